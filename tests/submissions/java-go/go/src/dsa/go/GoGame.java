package dsa.go;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Scanner;

public class GoGame {
    static final int SIZE = 11;

    private int[][] board = new int[SIZE][SIZE];
    private int[][] previous = null;
    private int[] prisoners = new int[3];
    private final Board rules = new Board();

    /** prints the board with coordinates */
    private void show() {
        System.out.print("   ");
        for (int y = 0; y < SIZE; y++) {
            System.out.printf("%3d", y);
        }
        System.out.println();
        for (int x = 0; x < SIZE; x++) {
            System.out.printf("%3d", x);
            for (int y = 0; y < SIZE; y++) {
                System.out.print("  " + ".BW".charAt(board[x][y]));
            }
            System.out.println();
        }
        System.out.println("Prisoners: black " + prisoners[1] + ", white " + prisoners[2]);
    }

    private boolean same(int[][] a, int[][] b) {
        for (int x = 0; x < SIZE; x++) {
            for (int y = 0; y < SIZE; y++) {
                if (a[x][y] != b[x][y]) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean move(int x, int y, int colour) {
        if (x < 0 || y < 0 || x >= SIZE || y >= SIZE || !rules.isLegal(board, x, y, colour)) {
            System.out.println("Illegal move!");
            return false;
        }
        int[][] after = new int[SIZE][];
        for (int i = 0; i < SIZE; i++) {
            after[i] = board[i].clone();
        }
        int taken = rules.put(after, x, y, colour);
        if (previous != null && same(after, previous)) {
            System.out.println("Illegal move: KO!");
            return false;
        }
        prisoners[colour] += taken;
        previous = board;
        board = after;
        return true;
    }

    static int[][] load(String name) throws FileNotFoundException {
        Scanner in = new Scanner(new File(name));
        int[][] b = new int[SIZE][SIZE];
        for (int x = 0; x < SIZE; x++) {
            for (int y = 0; y < SIZE; y++) {
                b[x][y] = in.nextInt();
            }
        }
        in.close();
        return b;
    }

    public static void main(String[] args) throws IOException {
        GoGame game = new GoGame();
        if (args.length > 0) {
            game.board = load(args[0]);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int colour = Board.BLACK;
        boolean blackPassed = false;
        System.out.println("Welcome to Go! Type row and column, or pass.");
        while (true) {
            game.show();
            System.out.print(colour == Board.BLACK ? "Black> " : "White> ");
            String line = in.readLine();
            if (line == null) {
                return;
            }
            line = line.trim();
            if (line.equals("pass")) {
                if (colour == Board.WHITE && blackPassed) {
                    break;
                }
                blackPassed = colour == Board.BLACK;
                game.previous = null;
                colour = 3 - colour;
                continue;
            }
            try {
                String[] words = line.split("\\s+");
                if (game.move(Integer.parseInt(words[0]), Integer.parseInt(words[1]), colour)) {
                    blackPassed = false;
                    colour = 3 - colour;
                }
            } catch (RuntimeException e) {
                System.out.println("Please type two numbers");
            }
        }
        System.out.println("The end.");
        for (int c = Board.BLACK; c <= Board.WHITE; c++) {
            int points = game.rules.score(game.board, c) + game.prisoners[c];
            System.out.println((c == Board.BLACK ? "Black: " : "White: ") + points);
        }
    }
}
