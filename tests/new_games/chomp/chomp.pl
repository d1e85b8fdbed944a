#!/usr/bin/perl
# Chomp: bite off all above and to the right of a square, numbered from "1 1". Who must eat that
# one loses. GTP; "new W H"; words refuse: "no".
use strict;
use warnings;

$| = 1;
my ($w, $h, $player, $poisoned, @heights) = (3, 2, 1, 0);

sub fresh {
    ($w, $h) = @_;
    @heights = ($h) x $w;
    ($player, $poisoned) = (1, 0);
    return 'ready';
}

sub bite {
    my ($x, $y) = @_;
    return 'no' if !defined $y || "$x$y" =~ /\D/ || $x < 1 || $x > $w || $y < 1;
    return 'no' if $y > $heights[$x - 1];
    for my $i ($x - 1 .. $w - 1) {
        $heights[$i] = $y - 1 if $heights[$i] >= $y;
    }
    $poisoned = 1 if $x == 1 && $y == 1;
    $player = 3 - $player;
    return 'ok';
}

sub squares {
    my @found;
    for my $x (1 .. $w) {
        push @found, "$x $_" for 1 .. $heights[$x - 1];
    }
    return join '  ', @found;
}

sub left { my $sum = 0; $sum += $_ for @heights; return $sum; }

sub think {
    return 'none' if !left();
    for my $x (reverse 1 .. $w) {
        return "$x $heights[$x - 1]" if $heights[$x - 1];
    }
}

fresh(3, 2);
while (my $line = <STDIN>) {
    my ($name, @words) = split ' ', $line;
    next unless defined $name;
    my $id = '';
    if ($name =~ /^\d+$/) { $id = $name; $name = shift @words; }
    my $said =
          $name eq 'new'     ? fresh(@words)
        : $name eq 'bite'    ? bite(@words)
        : $name eq 'squares' ? squares()
        : $name eq 'left'    ? left()
        : $name eq 'player'  ? $player
        : $name eq 'who'     ? ($poisoned ? "winner $player" : 'nobody yet')
        : $name eq 'think'   ? think()
        : $name eq 'draw'    ? join("\n", '', map { '|' . '#' x $_ } @heights)
        : $name eq 'quit'    ? ''
        :                      undef;
    print defined $said ? "=$id $said\n\n" : "?$id what?\n\n";
    last if $name eq 'quit';
}
