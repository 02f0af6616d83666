#!/usr/bin/env python3
"""embed.py OUTPUT NAME [INPUT...] [NAME [INPUT...]...]: writes a C file that defines each NAME (a word
without dot and slash) as the text of the inputs after it, one after the other; "" without one."""
import sys

WIDTH = 4000  # characters of a literal's piece: a library's script is one line of 50,000
ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\t": "\\t", "?": "\\?"})  # "??=" is a trigraph


def literals_of(path):
    with open(path, encoding="utf-8", newline="\n") as f:
        for line in f:
            text = line.removesuffix("\n")
            for at in range(0, len(text), WIDTH):
                yield text[at:at + WIDTH].translate(ESCAPES)
            yield "\\n"


def main():
    texts = {}
    name = None
    for word in sys.argv[2:]:
        if "." in word or "/" in word:
            texts[name] += literals_of(word)
        else:
            name = word
            texts[name] = []
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        for name, literals in texts.items():
            f.write(f"extern const char {name}[];\nconst char {name}[] =\n")
            for text in literals:
                f.write(f'\t"{text}"\n')
            f.write('\t"";\n')


main()
