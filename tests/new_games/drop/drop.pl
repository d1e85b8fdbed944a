#!/usr/bin/perl
# Drop: discs fall to the bottom of a column; three in a line win. GTP.
# "drop C N" is answered with the row in which the disc lies, or with -1.
use strict;
use warnings;

$| = 1;
my ($columns, $rows) = (4, 4);
my (%at, $turn, $last);
begin();

sub begin { %at = (); $turn = 'b'; $last = ''; }

sub cell { return $at{"$_[0],$_[1]"} // '.'; }

sub height {
    my $column = shift;
    my $height = 0;
    $height++ while $height < $rows && cell($column, $height) ne '.';
    return $height;
}

sub won {
    for my $c (0 .. $columns - 1) {
        for my $r (0 .. $rows - 1) {
            my $color = cell($c, $r);
            next if $color eq '.';
            for my $d ([1, 0], [0, 1], [1, 1], [1, -1]) {
                my @line = map { cell($c + $_ * $d->[0], $r + $_ * $d->[1]) } 0 .. 2;
                return $color if 3 == grep { $_ eq $color } @line;
            }
        }
    }
    return '';
}

sub open_columns { return grep { height($_ - 1) < $rows } 1 .. $columns; }

sub status {
    my $won = won();
    return "won by $won" if $won;
    return open_columns() ? 'going on' : 'drawn';
}

sub drop {
    my ($color, $number) = @_;
    return -1 unless defined $number && $number =~ /^\d+$/ && $number >= 1 && $number <= $columns;
    return -1 if $color ne $turn || status() ne 'going on';
    my $row = height($number - 1);
    return -1 if $row == $rows;
    $at{($number - 1) . ",$row"} = $color;
    $turn = $color eq 'b' ? 'w' : 'b';
    return $row + 1;
}

my %commands = (
    name => sub { 'Drop' },
    version => sub { '1' },
    list_commands => sub { '' },
    boardsize => sub { ($columns, $rows) = ($_[0], $_[0]); begin(); '' },
    clear_board => sub { begin(); '' },
    drop => sub { drop(@_) },
    columns => sub { join ' ', open_columns() },
    status => sub { status() },
    heights => sub { join ' ', map { height($_) } 0 .. $columns - 1 },
    quit => sub { '' },
);
$commands{list_commands} = sub { join "\n", sort keys %commands };

while (my $line = <STDIN>) {
    my @words = split ' ', $line;
    next unless @words;
    my $number = $words[0] =~ /^\d+$/ ? shift @words : '';
    my $name = shift @words;
    if (my $command = $commands{$name}) {
        print "=$number ", $command->(@words), "\n\n";
    } else {
        print "?$number unknown command\n\n";
    }
    last if $name eq 'quit';
}
