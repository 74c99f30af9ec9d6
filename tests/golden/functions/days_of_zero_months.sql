-- DATE_FORMAT of days that lack a month or are none: weekdays, days of the year and weeks are reckoned, and wrap.
SELECT d, DATE_FORMAT(d, '%a %W %w'), DATE_FORMAT(d, '%j'), DATE_FORMAT(d, '%U %u'), DATE_FORMAT(d, '%V %v'), DATE_FORMAT(d, '%X %x'), DATE_FORMAT(d, '%b %M')
FROM (VALUES ROW('2010-11-00'), ROW('2010-00-01'), ROW('2010-00-00'), ROW('2010-00-31'), ROW('2010-01-00'), ROW('2012-03-00'),
ROW('0000-11-00'), ROW('0000-00-05'), ROW('0000-11-05'), ROW('0000-01-00'), ROW('0000-01-01'), ROW('0000-12-31'), ROW('0001-01-00'),
ROW('0001-00-00'), ROW('2011-01-00'), ROW('2012-01-00'), ROW('2009-00-00'), ROW('1999-00-07')) t (d);
SELECT DATE_FORMAT('2010-11-00', '%d %W');
-- What only a day has makes NULL of a time's format.
SELECT TIME_FORMAT('10:11:12', '%a'), TIME_FORMAT('10:11:12', '%D'), TIME_FORMAT('10:11:12', '%j'), TIME_FORMAT('10:11:12', '%U %v'), TIME_FORMAT('10:11:12', '%x'), TIME_FORMAT('10:11:12', '%c %m %d %e %Y %y');
