/* A GTP engine that costs nothing: every command is answered at once, `genmove` ones with A1;
   `sleep N` takes N milliseconds. What came in one read is answered in one write, as stdio does it for an engine that flushes
   when it has to wait. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char in[1 << 16], out[1 << 20];

int main(void)
{
    size_t kept = 0;
    ssize_t got;
    while ((got = read(0, in + kept, sizeof in - kept)) > 0) {
        char *line = in, *end = in + kept + got, *stop, *to = out;
        while ((stop = memchr(line, '\n', end - line))) {
            char *word = line;
            *to++ = '=';
            while (isdigit((unsigned char)*word))
                *to++ = *word++;
            *to++ = ' ';
            while (*word == ' ')
                word++;
            if (memmem(word, stop - word, "genmove", 7)) {
                *to++ = 'A';
                *to++ = '1';
            }
            *to++ = '\n';
            *to++ = '\n';
            if (stop - word > 6 && !memcmp(word, "sleep ", 6))
                usleep(1000 * atoi(word + 6));
            if (stop - word == 4 && !memcmp(word, "quit", 4)) {
                (void)!write(1, out, to - out);
                return 0;
            }
            line = stop + 1;
        }
        if (write(1, out, to - out) < 0)
            return 1;
        kept = end - line;
        memmove(in, line, kept);
    }
    return 0;
}
