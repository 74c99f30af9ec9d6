-- The value that SET assigns is of no rows.
SET @x = COUNT(*);
SET @x = 1 + SUM(1);
SET @x = GROUP_CONCAT('a');
SET @x = JSON_ARRAYAGG(1);
SET SESSION sort_buffer_size = MAX(1);
SET @x = RANK() OVER ();
SET @x = COUNT(*) OVER ();
SET @x = (SELECT COUNT(*));
SELECT @x;
