-- Every setting of MariaDB that could change what a statement means, or whether it works, at a value that
-- few expect. For throwaway-mariadb --turned, and for tests of the settings.
SET GLOBAL sql_safe_updates = 1;
SET GLOBAL sql_mode = 'ANSI_QUOTES,EMPTY_STRING_IS_NULL,HIGH_NOT_PRECEDENCE,IGNORE_SPACE,NO_AUTO_VALUE_ON_ZERO,NO_BACKSLASH_ESCAPES,NO_UNSIGNED_SUBTRACTION,NO_ZERO_DATE,NO_ZERO_IN_DATE,ONLY_FULL_GROUP_BY,PAD_CHAR_TO_FULL_LENGTH,PIPES_AS_CONCAT,REAL_AS_FLOAT,SIMULTANEOUS_ASSIGNMENT,TIME_ROUND_FRACTIONAL';
SET GLOBAL completion_type = 'CHAIN';
SET GLOBAL tx_isolation = 'SERIALIZABLE';
SET GLOBAL sql_select_limit = 5;
SET GLOBAL sql_big_selects = 0;
SET GLOBAL max_join_size = 20;
SET GLOBAL foreign_key_checks = 0;
SET GLOBAL unique_checks = 0;
SET GLOBAL check_constraint_checks = 0;
SET GLOBAL default_regex_flags = 'EXTENDED';
SET GLOBAL max_sort_length = 8;
SET GLOBAL max_statement_time = 20;
SET GLOBAL innodb_lock_wait_timeout = 20;
SET GLOBAL lock_wait_timeout = 20;
SET GLOBAL time_zone = '-11:30';
SET GLOBAL character_set_server = 'utf16';
SET GLOBAL collation_connection = 'latin1_general_cs';
SET GLOBAL default_storage_engine = 'MyISAM';
SET GLOBAL explicit_defaults_for_timestamp = 0;
SET GLOBAL div_precision_increment = 0;
SET GLOBAL group_concat_max_len = 4;
SET GLOBAL sql_auto_is_null = 1;
SET GLOBAL sql_buffer_result = 1;
SET GLOBAL sql_quote_show_create = 0;
SET GLOBAL low_priority_updates = 1;
SET GLOBAL old_mode = 'NO_PROGRESS_INFO';
SET GLOBAL lc_time_names = 'ja_JP';
SET GLOBAL use_stat_tables = 'NEVER';
SET GLOBAL optimizer_switch = 'index_condition_pushdown=off,mrr=off,materialization=off,semijoin=off';
SET GLOBAL join_cache_level = 8;
-- These change what an application does: with the first nothing of it is committed, with the second it
-- writes nothing. A run of the suite leaves them out.
SET GLOBAL autocommit = 0;
SET GLOBAL tx_read_only = 1;
