import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * What Java says to expressions. Each line of input: an expression and texts, as UTF-16 in
 * hexadecimal, between blanks. Each line of output: "refused: why", or 1 or 0 for each text.
 * Compiled with the flags of gogui-regress.
 */
public class Patterns {
    static String decode(String hex) {
        StringBuilder text = new StringBuilder();
        for (int i = 1; i < hex.length(); i += 4) {
            text.append((char) Integer.parseInt(hex.substring(i, i + 4), 16));
        }
        return text.toString();
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintStream out = new PrintStream(System.out, false, "US-ASCII");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            StringBuilder answer = new StringBuilder();
            try {
                Pattern pattern =
                    Pattern.compile(decode(words[0]), Pattern.MULTILINE | Pattern.DOTALL);
                for (int i = 1; i < words.length; i++) {
                    answer.append(pattern.matcher(decode(words[i])).matches() ? '1' : '0');
                }
            } catch (PatternSyntaxException error) {
                answer = new StringBuilder("refused: " + error.getDescription());
            } catch (RuntimeException | StackOverflowError error) {
                answer = new StringBuilder("broke: " + error);
            }
            out.println(answer.toString().replace('\n', ' '));
        }
        out.flush();
    }
}
