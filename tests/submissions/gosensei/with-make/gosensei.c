/* Go Sensei, ECE 275. Everything in one file. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 9

char board[N + 2][N + 2]; /* with a border of # around it */

void usage(void)
{
    fprintf(stderr, "Usage: gosensei -eyes|-twoeyes|-eyespaces goBoardFile\n");
    exit(2);
}

void clear(void)
{
    int r, c;
    memset(board, '#', sizeof(board));
    for (r = 1; r <= N; r++)
        for (c = 1; c <= N; c++)
            board[r][c] = '+';
}

int count_words(FILE *f)
{
    char word[100];
    int n = 0;
    while (fscanf(f, "%99s", word) == 1)
        n++;
    return n;
}

void read_file(char *name)
{
    char colour[100], column[100], row[100];
    int n, i;
    FILE *f = fopen(name, "r");
    if (!f) {
        fprintf(stderr, "cannot open %s\n", name);
        exit(1);
    }
    n = count_words(f);
    fclose(f);
    if (n % 3 != 0) {
        fprintf(stderr, "there is something missing\n");
        exit(1);
    }
    f = fopen(name, "r");
    for (i = 0; i < n / 3; i++) {
        int r, c;
        if (fscanf(f, "%99s %99s %99s", colour, column, row) != 3)
            break;
        if (strlen(colour) > 1 || !strchr("bBwW", colour[0])) {
            fprintf(stderr, "bad color %s\n", colour);
            exit(1);
        }
        if (strlen(column) > 1 || !strchr("abcdefghiABCDEFGHI", column[0])) {
            fprintf(stderr, "bad column %s\n", column);
            exit(1);
        }
        if (strlen(row) > 1 || !strchr("123456789", row[0])) {
            fprintf(stderr, "bad row %s\n", row);
            exit(1);
        }
        r = row[0] - '0';
        c = tolower(column[0]) - 'a' + 1;
        if (board[r][c] != '+') {
            fprintf(stderr, "%s%s is taken\n", column, row);
            exit(1);
        }
        board[r][c] = tolower(colour[0]);
    }
    fclose(f);
}

void display(void)
{
    int r, c;
    for (r = N; r >= 1; r--) {
        printf("%d ", r);
        for (c = 1; c <= N; c++)
            printf("%c%s", board[r][c], c < N ? "-" : "\n");
        if (r > 1)
            printf("  | | | | | | | | |\n");
    }
    printf("\n  A B C D E F G H I\n");
}

int mine(int r, int c)
{
    return board[r][c] == 'b' || board[r][c] == '#';
}

int eye(int r, int c)
{
    int bad;
    if (board[r][c] != '+')
        return 0;
    if (!mine(r + 1, c) || !mine(r - 1, c) || !mine(r, c + 1) || !mine(r, c - 1))
        return 0;
    bad = !mine(r + 1, c + 1) + !mine(r + 1, c - 1) + !mine(r - 1, c + 1) + !mine(r - 1, c - 1);
    return bad <= 1;
}

int eyes(void)
{
    int r, c, n = 0;
    for (r = 1; r <= N; r++)
        for (c = 1; c <= N; c++)
            n += eye(r, c);
    return n;
}

int near_another(int r, int c)
{
    int i, j;
    for (i = 1; i <= N; i++)
        for (j = 1; j <= N; j++)
            if ((i != r || j != c) && eye(i, j) && (abs(i - r) <= 2 || abs(j - c) <= 2))
                return 1;
    return 0;
}

int twoeyes(void)
{
    int r, c, n = 0;
    for (r = 1; r <= N; r++)
        for (c = 1; c <= N; c++)
            n += eye(r, c) && near_another(r, c);
    return n;
}

/* paints a group of one kind with another letter; the stones beside it become capitals */
void paint(int r, int c, char from, char to, int *white)
{
    if (board[r][c] == 'w')
        *white = 1;
    if (from == '+' && board[r][c] == 'b')
        board[r][c] = 'B';
    if (board[r][c] != from)
        return;
    board[r][c] = to;
    paint(r + 1, c, from, to, white);
    paint(r - 1, c, from, to, white);
    paint(r, c + 1, from, to, white);
    paint(r, c - 1, from, to, white);
}

/* puts stones back as they were and says whether those beside the space were one chain */
int one_chain(void)
{
    char saved[N + 2][N + 2];
    int r, c, chains = 0, white;
    memcpy(saved, board, sizeof(board));
    for (r = 1; r <= N; r++)
        for (c = 1; c <= N; c++)
            if (board[r][c] == 'B')
                board[r][c] = 'b';
    for (r = 1; r <= N; r++)
        for (c = 1; c <= N; c++)
            if (saved[r][c] == 'B' && board[r][c] == 'b') {
                chains++;
                paint(r, c, 'b', 'x', &white);
            }
    for (r = 1; r <= N; r++)
        for (c = 1; c <= N; c++)
            board[r][c] = saved[r][c] == 'B' ? 'b' : saved[r][c];
    return chains == 1;
}

int eyespaces(void)
{
    int r, c, n = 0;
    for (r = 1; r <= N; r++)
        for (c = 1; c <= N; c++)
            if (board[r][c] == '+') {
                int white = 0;
                paint(r, c, '+', '.', &white);
                if (one_chain() && !white)
                    n++;
            }
    return n;
}

int main(int argc, char **argv)
{
    int n;
    if (argc != 3)
        usage();
    clear();
    if (strcmp(argv[1], "-eyes") && strcmp(argv[1], "-twoeyes") && strcmp(argv[1], "-eyespaces"))
        usage();
    read_file(argv[2]);
    display();
    if (!strcmp(argv[1], "-eyes")) {
        n = eyes();
        printf(n == 1 ? "There is 1 eye for black.\n" : "There are %d eyes for black.\n", n);
    } else if (!strcmp(argv[1], "-twoeyes")) {
        n = twoeyes();
        printf(n == 1 ? "There is 1 two eye for black.\n" : "There are %d two eye for blacks.\n", n);
    } else {
        n = eyespaces();
        printf(n == 1 ? "There is 1 eyespace for black.\n" : "There are %d eyespaces for black.\n", n);
    }
    return 0;
}
