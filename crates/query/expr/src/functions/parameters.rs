//! The types of parameters that stand as arguments of functions.

/// What the arguments of a function are where `?` stands for them.
pub enum Arguments {
    /// All of one type: that of the first one that has a type of its own.
    Alike,
    /// A letter for each, the last one for all that follow: `S` text, `B` binary string, `I` integer, `D` decimal, `F` double,
    /// `A` date, `T` time, `M` moment, `J` document.
    Each(&'static str),
}

impl Arguments {
    /// The letter of argument `i`; `None` where the others decide.
    pub fn letter(&self, i: usize) -> Option<char> {
        match self {
            Arguments::Alike => None,
            Arguments::Each(letters) => letters.chars().nth(i).or(letters.chars().last()),
        }
    }
}

/// Texts, unless the function says otherwise.
pub fn arguments_of(function: &str) -> Arguments {
    Arguments::Each(match function.to_ascii_lowercase().as_str() {
        "coalesce" | "ifnull" | "nullif" | "greatest" | "least" | "field" | "any_value" => return Arguments::Alike,
        "abs" | "acos" | "asin" | "atan" | "atan2" | "ceil" | "ceiling" | "cos" | "cot" | "degrees" | "exp"
        | "floor" | "format_bytes" | "format_pico_time" | "ln" | "log" | "log10" | "log2" | "pow" | "power"
        | "radians" | "rand" | "sign" | "sin" | "sleep" | "sqrt" | "tan" => "F",
        "bin" | "char" | "conv" | "from_days" | "inet_ntoa" | "interval" | "last_insert_id" | "makedate" | "oct"
        | "period_add" | "period_diff" | "ps_thread_id" | "random_bytes" | "space" => "I",
        "datediff" | "dayname" | "dayofweek" | "dayofyear" | "hour" | "microsecond" | "minute" | "second" | "time"
        | "to_days" | "to_seconds" | "unix_timestamp" | "weekday" | "weekofyear" | "day" | "dayofmonth"
        | "last_day" | "month" | "monthname" | "quarter" | "year" => "M",
        "week" | "yearweek" => "MI",
        "convert_tz" | "date_format" | "time_format" => "MS",
        "timestamp" => "MT",
        "date" => "A",
        "adddate" | "subdate" => "AI",
        "addtime" | "subtime" | "time_to_sec" => "T",
        "sec_to_time" => "D",
        "round" | "truncate" => "DI",
        "format" => "DIS",
        "from_unixtime" => "DS",
        "maketime" => "IID",
        "benchmark" | "elt" | "make_set" => "IS",
        "export_set" => "ISSSI",
        "bin_to_uuid" | "get_lock" | "left" | "mid" | "repeat" | "right" | "sha2" | "substr" | "substring"
        | "uuid_to_bin" => "SI",
        "insert" => "SIIS",
        "master_pos_wait" | "source_pos_wait" => "SIFS",
        "lpad" | "rpad" => "SIS",
        "locate" | "regexp_instr" | "regexp_substr" | "substring_index" => "SSI",
        "regexp_replace" => "SSSI",
        "bit_count" => "B",
        "json_depth"
        | "json_merge"
        | "json_merge_patch"
        | "json_merge_preserve"
        | "json_pretty"
        | "json_storage_free"
        | "json_storage_size"
        | "json_type"
        | "json_valid" => "J",
        "json_contains" | "json_contains_path" | "json_extract" | "json_keys" | "json_length" | "json_remove"
        | "json_search" => "JS",
        "json_array_append" | "json_array_insert" | "json_insert" | "json_replace" | "json_set" => {
            "JSJSJSJSJSJSJSJSJSJ"
        }
        _ => "S",
    })
}
