import sys

for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words[0].isdigit() else ""
    answer = 2 * int(words[1]) if words[0] == "twice" else ""
    print(f"={number} {answer}\n", flush=True)
    if words[0] == "quit":
        break
