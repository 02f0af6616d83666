whet train --help
