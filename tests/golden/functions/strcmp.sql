-- STRCMP compares byte by byte where one of the two is a number.
SELECT STRCMP('\\', FALSE), STRCMP('\\', '0'), STRCMP('\\', 0), STRCMP(FALSE, '\\'), STRCMP('a', 1), STRCMP('_', 1), STRCMP('\\', CONCAT(0));
SELECT STRCMP('1e1', 1E1), STRCMP(10, 9), STRCMP(1.0, '1.0 '), STRCMP(NULL, 1);
