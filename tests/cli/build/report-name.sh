whet build --report report.pdf
