#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "goboard.h"

/* row 0 of go_board is row 1 of the picture */

bool read_go_board(char *inputFileName, char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE])
{
   FILE *inFile;
   char line[256];
   int lineNumber = 0;

   inFile = fopen(inputFileName, "r");
   if (inFile == NULL) {
      printf("Error: could not open %s\n", inputFileName);
      return false;
   }

   for (int i = 0; i < GO_BOARD_SIZE; i++) {
      for (int j = 0; j < GO_BOARD_SIZE; j++) {
         go_board[i][j] = EMPTY;
      }
   }

   while (fgets(line, sizeof(line), inFile) != NULL) {
      char color[64];
      char column[64];
      char row[64];
      int fields;
      int i, j;

      lineNumber++;
      fields = sscanf(line, "%63s %63s %63s", color, column, row);
      if (fields <= 0) {
         continue;
      }
      color[0] = tolower(color[0]);
      column[0] = tolower(column[0]);
      if (fields != 3 || strlen(color) != 1 || (color[0] != BLACK && color[0] != WHITE)) {
         printf("Error: invalid stone color in line %d\n", lineNumber);
         fclose(inFile);
         return false;
      }
      if (strlen(column) != 1 || column[0] < 'a' || column[0] > 'i') {
         printf("Error: invalid column in line %d\n", lineNumber);
         fclose(inFile);
         return false;
      }
      if (strlen(row) != 1 || row[0] < '1' || row[0] > '9') {
         printf("Error: invalid row in line %d\n", lineNumber);
         fclose(inFile);
         return false;
      }
      i = row[0] - '1';
      j = column[0] - 'a';
      if (go_board[i][j] != EMPTY) {
         printf("Error: multiple stones at %c%c\n", column[0], row[0]);
         fclose(inFile);
         return false;
      }
      go_board[i][j] = color[0];
   }

   fclose(inFile);
   return true;
}

void display_go_board(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE])
{
   for (int i = GO_BOARD_SIZE - 1; i >= 0; i--) {
      printf("%d ", i + 1);
      for (int j = 0; j < GO_BOARD_SIZE; j++) {
         printf("%c", go_board[i][j]);
         if (j < GO_BOARD_SIZE - 1) {
            printf("-");
         }
      }
      printf("\n");
      if (i > 0) {
         printf("  | | | | | | | | |\n");
      }
   }
   printf("\n  A B C D E F G H I\n");
}

static bool on_board(int i, int j)
{
   return i >= 0 && i < GO_BOARD_SIZE && j >= 0 && j < GO_BOARD_SIZE;
}

static bool is_eye(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE], int i, int j)
{
   int missing = 0;

   if (go_board[i][j] != EMPTY) {
      return false;
   }
   for (int di = -1; di <= 1; di++) {
      for (int dj = -1; dj <= 1; dj++) {
         if ((di == 0 && dj == 0) || !on_board(i + di, j + dj)) {
            continue;
         }
         if (go_board[i + di][j + dj] == BLACK) {
            continue;
         }
         if (di == 0 || dj == 0) {
            return false;
         }
         missing++;
      }
   }
   return missing <= 1;
}

int determine_eyes_black(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE])
{
   int count = 0;

   for (int i = 0; i < GO_BOARD_SIZE; i++) {
      for (int j = 0; j < GO_BOARD_SIZE; j++) {
         if (is_eye(go_board, i, j)) {
            count++;
         }
      }
   }
   return count;
}

int determine_twoeyes_black(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE])
{
   int rows[GO_BOARD_SIZE * GO_BOARD_SIZE];
   int columns[GO_BOARD_SIZE * GO_BOARD_SIZE];
   int eyes = 0;
   int count = 0;

   for (int i = 0; i < GO_BOARD_SIZE; i++) {
      for (int j = 0; j < GO_BOARD_SIZE; j++) {
         if (is_eye(go_board, i, j)) {
            rows[eyes] = i;
            columns[eyes] = j;
            eyes++;
         }
      }
   }
   for (int a = 0; a < eyes; a++) {
      bool close = false;
      for (int b = 0; b < eyes; b++) {
         if (a != b && (abs(rows[a] - rows[b]) <= 2 || abs(columns[a] - columns[b]) <= 2)) {
            close = true;
         }
      }
      if (close) {
         count++;
      }
   }
   return count;
}

/* number of the black chain of each stone, found by filling; 0 is none */
static int chain[GO_BOARD_SIZE][GO_BOARD_SIZE];
static bool seen[GO_BOARD_SIZE][GO_BOARD_SIZE];

static void fill_chain(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE], int i, int j, int number)
{
   if (!on_board(i, j) || go_board[i][j] != BLACK || chain[i][j] != 0) {
      return;
   }
   chain[i][j] = number;
   fill_chain(go_board, i + 1, j, number);
   fill_chain(go_board, i - 1, j, number);
   fill_chain(go_board, i, j + 1, number);
   fill_chain(go_board, i, j - 1, number);
}

/* fills a region; ok becomes false if something else than one chain is around it */
static void fill_space(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE], int i, int j, int *around,
                       bool *ok)
{
   if (!on_board(i, j)) {
      return;
   }
   if (go_board[i][j] == WHITE) {
      *ok = false;
      return;
   }
   if (go_board[i][j] == BLACK) {
      if (*around != 0 && *around != chain[i][j]) {
         *ok = false;
      }
      *around = chain[i][j];
      return;
   }
   if (seen[i][j]) {
      return;
   }
   seen[i][j] = true;
   fill_space(go_board, i + 1, j, around, ok);
   fill_space(go_board, i - 1, j, around, ok);
   fill_space(go_board, i, j + 1, around, ok);
   fill_space(go_board, i, j - 1, around, ok);
}

int determine_eyesspaces_black(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE])
{
   int chains = 0;
   int count = 0;

   memset(chain, 0, sizeof(chain));
   memset(seen, 0, sizeof(seen));
   for (int i = 0; i < GO_BOARD_SIZE; i++) {
      for (int j = 0; j < GO_BOARD_SIZE; j++) {
         if (go_board[i][j] == BLACK && chain[i][j] == 0) {
            chains++;
            fill_chain(go_board, i, j, chains);
         }
      }
   }
   for (int i = 0; i < GO_BOARD_SIZE; i++) {
      for (int j = 0; j < GO_BOARD_SIZE; j++) {
         if (go_board[i][j] == EMPTY && !seen[i][j]) {
            int around = 0;
            bool ok = true;
            fill_space(go_board, i, j, &around, &ok);
            if (ok && around != 0) {
               count++;
            }
         }
      }
   }
   return count;
}
