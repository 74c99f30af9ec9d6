-- Names of user variables differ neither by case nor by accents, and one keeps the name that it was made by.
SET @AbC = 1;
SET @aBc = 2;
SELECT @abc, @ABC;
SET @É = 3;
SELECT @é, @e, @E;
SELECT @e := 4;
SET @e = 5;
SELECT @É;
SET @ß = 1;
SELECT @s, @ss IS NULL;
SET @Straße = 1;
SELECT @STRASSE IS NULL, @strase;
SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.user_variables_by_thread WHERE THREAD_ID = PS_CURRENT_THREAD_ID() ORDER BY 1;
SELECT 7 INTO @Ö;
SELECT @o;
