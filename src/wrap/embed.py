#!/usr/bin/env python3
"""embed.py NAME INPUT OUTPUT: writes a C file that defines NAME as the text of INPUT."""
import sys

name, source, output = sys.argv[1:4]
with open(source, encoding="utf-8") as f:
    lines = f.read().splitlines()
with open(output, "w", encoding="utf-8") as f:
    f.write(f"extern const char {name}[];\nconst char {name}[] =\n")
    for line in lines:
        text = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        f.write(f'\t"{text}\\n"\n')
    f.write('\t"";\n')
