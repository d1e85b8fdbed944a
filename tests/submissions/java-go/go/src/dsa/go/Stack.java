package dsa.go;

/** A stack of positions, as a linked list. */
public class Stack {
    private static class Node {
        int x, y;
        Node next;
    }

    private Node top;

    public boolean isEmpty() {
        return top == null;
    }

    public void push(int x, int y) {
        Node n = new Node();
        n.x = x;
        n.y = y;
        n.next = top;
        top = n;
    }

    public int[] pop() {
        int[] p = { top.x, top.y };
        top = top.next;
        return p;
    }
}
