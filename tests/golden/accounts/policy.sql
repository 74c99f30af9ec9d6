-- What variables of the server say of all passwords.

SELECT @@default_password_lifetime, @@password_history, @@password_reuse_interval, @@password_require_current, @@generated_random_password_length;

SET GLOBAL password_history = 2;

CREATE USER policy_user IDENTIFIED BY 'a';

ALTER USER policy_user IDENTIFIED BY 'a';

ALTER USER policy_user IDENTIFIED BY 'b';

ALTER USER policy_user IDENTIFIED BY 'c';

ALTER USER policy_user IDENTIFIED BY 'a';

SET GLOBAL password_history = DEFAULT;

SET GLOBAL password_reuse_interval = 5;

ALTER USER policy_user IDENTIFIED BY 'a';

ALTER USER policy_user IDENTIFIED BY 'd' PASSWORD REUSE INTERVAL 0 DAY;

ALTER USER policy_user IDENTIFIED BY 'd';

SET GLOBAL password_reuse_interval = DEFAULT;

SET SESSION password_history = 1;

SET GLOBAL default_password_lifetime = 70000;

SET GLOBAL default_password_lifetime = DEFAULT;

DROP USER policy_user;
