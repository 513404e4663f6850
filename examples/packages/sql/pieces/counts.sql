SELECT printf('  %,d pieces, %,d rows; %,d KB of filters, 10 bits for each name in a piece',
              count(*), sum(num_rows), sum(length(filter)) / 1024)
FROM pieces;
