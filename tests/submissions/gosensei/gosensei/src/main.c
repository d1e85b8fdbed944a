#include <stdio.h>
#include <string.h>

#include "goboard.h"

char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE];

static int usage(char *name)
{
   printf("usage: %s -eyes|-doubleeyes|-eyespaces goBoardFile\n", name);
   return 1;
}

int main(int argc, char *argv[])
{
   int count;

   if (argc != 3) {
      return usage(argv[0]);
   }
   if (strcmp(argv[1], "-eyes") != 0 && strcmp(argv[1], "-doubleeyes") != 0
       && strcmp(argv[1], "-eyespaces") != 0) {
      return usage(argv[0]);
   }

   if (!read_go_board(argv[2], go_board)) {
      return 1;
   }
   display_go_board(go_board);
   printf("\n");

   if (strcmp(argv[1], "-eyes") == 0) {
      count = determine_eyes_black(go_board);
      if (count == 1) {
         printf("There is 1 eye for black.\n");
      } else {
         printf("There are %d eyes for black.\n", count);
      }
   } else if (strcmp(argv[1], "-doubleeyes") == 0) {
      count = determine_twoeyes_black(go_board);
      if (count == 1) {
         printf("There is 1 two eye for black.\n");
      } else {
         printf("There are %d two eye for blacks.\n", count);
      }
   } else {
      count = determine_eyesspaces_black(go_board);
      if (count == 1) {
         printf("There is 1 eyespace for black.\n");
      } else {
         printf("There are %d eyespaces for black.\n", count);
      }
   }
   return 0;
}
