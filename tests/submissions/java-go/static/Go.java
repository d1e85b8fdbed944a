import java.util.Scanner;

class Queue {
    static class Item {
        int x, y;
        Item next;
    }

    Item first, last;
    int size = 0;

    void add(int x, int y) {
        Item item = new Item();
        item.x = x;
        item.y = y;
        if (size == 0) {
            first = item;
        } else {
            last.next = item;
        }
        last = item;
        size++;
    }

    Item remove() {
        Item item = first;
        first = first.next;
        size--;
        return item;
    }
}

public class Go {
    static int at(int[][] board, int x, int y) {
        if (y < 0 || y >= board.length || x < 0 || x >= board[y].length) {
            return -1;
        }
        return board[y][x];
    }

    /** fills seen with the string or area of x, y; returns which colours touch it */
    static boolean[] touching(int[][] board, int x, int y, boolean[][] seen) {
        boolean[] touches = new boolean[3];
        Queue queue = new Queue();
        queue.add(x, y);
        seen[y][x] = true;
        while (queue.size > 0) {
            Queue.Item p = queue.remove();
            int[][] next = { { p.x + 1, p.y }, { p.x - 1, p.y }, { p.x, p.y + 1 }, { p.x, p.y - 1 } };
            for (int[] n : next) {
                int c = at(board, n[0], n[1]);
                if (c < 0) {
                    continue;
                }
                if (c != board[y][x]) {
                    touches[c] = true;
                } else if (!seen[n[1]][n[0]]) {
                    seen[n[1]][n[0]] = true;
                    queue.add(n[0], n[1]);
                }
            }
        }
        return touches;
    }

    static boolean[][] empty(int[][] board) {
        return new boolean[board.length][board[0].length];
    }

    public static boolean isCaptured(int[][] board, int x, int y) {
        System.out.println("checking " + x + " " + y);
        boolean[] touches = touching(board, x, y, empty(board));
        if (board[y][x] == 0) {
            return touches[1] ^ touches[2];
        }
        return !touches[0];
    }

    static int[][] copy(int[][] board) {
        int[][] copy = new int[board.length][board[0].length];
        for (int y = 0; y < board.length; y++) {
            System.arraycopy(board[y], 0, copy[y], 0, board[y].length);
        }
        return copy;
    }

    static int removeCaptured(int[][] board, int colour) {
        int count = 0;
        int[][] before = copy(board);
        for (int y = 0; y < board.length; y++) {
            for (int x = 0; x < board[0].length; x++) {
                if (before[y][x] == colour && !touching(before, x, y, empty(before))[0]) {
                    board[y][x] = 0;
                    count++;
                }
            }
        }
        return count;
    }

    public static int score(int[][] board, int colour) {
        // the prisoners are taken off the board that was given
        int points = removeCaptured(board, 3 - colour);
        for (int y = 0; y < board.length; y++) {
            for (int x = 0; x < board[0].length; x++) {
                if (board[y][x] == 0) {
                    boolean[] touches = touching(board, x, y, empty(board));
                    if (touches[colour] && !touches[3 - colour]) {
                        points++;
                    }
                }
            }
        }
        return points;
    }

    public static boolean isLegal(int[][] board, int x, int y, int colour) {
        if (at(board, x, y) != 0) {
            return false;
        }
        int[][] after = copy(board);
        after[y][x] = colour;
        return removeCaptured(after, 3 - colour) > 0 || touching(after, x, y, empty(after))[0];
    }

    static void print(int[][] board) {
        System.out.println("    1 2 3 4 5 6 7 8 9 10 11");
        for (int y = 0; y < 11; y++) {
            System.out.print((y < 9 ? " " : "") + (y + 1) + " ");
            for (int x = 0; x < 11; x++) {
                System.out.print("|" + "_XO".charAt(board[y][x]));
            }
            System.out.println("|");
        }
    }

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        int[][] board = new int[11][11];
        int koX = -1, koY = -1, koColour = 0;
        int[] prisoners = new int[3];
        int colour = 1;
        boolean passed = false;
        boolean over = false;
        while (!over) {
            print(board);
            System.out.print((colour == 1 ? "Black (X)" : "White (O)") + ", enter x (p to pass): ");
            String word = in.next();
            if (word.equals("p")) {
                over = passed && colour == 2;
                passed = colour == 1;
                koColour = 0;
                colour = 3 - colour;
                continue;
            }
            int x, y;
            try {
                x = Integer.parseInt(word) - 1;
                System.out.print("enter y: ");
                y = Integer.parseInt(in.next()) - 1;
            } catch (NumberFormatException e) {
                System.out.println("That is no number.");
                continue;
            }
            if (at(board, x, y) != 0 || !isLegal(board, x, y, colour)) {
                System.out.println("You can't go there.");
                continue;
            }
            if (koColour == colour && x == koX && y == koY) {
                System.out.println("Ko!");
                continue;
            }
            int[][] before = copy(board);
            board[y][x] = colour;
            int taken = removeCaptured(board, 3 - colour);
            prisoners[colour] += taken;
            koColour = 0;
            if (taken == 1) {
                boolean[][] string = empty(board);
                touching(board, x, y, string);
                int stones = 0, liberties = 0;
                for (int j = 0; j < 11; j++) {
                    for (int i = 0; i < 11; i++) {
                        if (string[j][i]) {
                            stones++;
                            if (at(board, i + 1, j) == 0) liberties++;
                            if (at(board, i - 1, j) == 0) liberties++;
                            if (at(board, i, j + 1) == 0) liberties++;
                            if (at(board, i, j - 1) == 0) liberties++;
                        }
                        if (before[j][i] != 0 && board[j][i] == 0) {
                            koX = i;
                            koY = j;
                        }
                    }
                }
                koColour = stones == 1 && liberties == 1 ? 3 - colour : 0;
            }
            passed = false;
            colour = 3 - colour;
        }
        int black = score(copy(board), 1) + prisoners[1];
        int white = score(copy(board), 2) + prisoners[2];
        System.out.println("Black " + black + ", White " + white);
        System.exit(0);
    }
}
