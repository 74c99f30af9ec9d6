//! Separators of numbers by locale, as FORMAT knows them.

/// How a locale writes numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separators {
    pub point: &'static str,
    pub thousands: &'static str,
    /// Digits of the last group, and of those before it; 0: no groups.
    groups: (usize, usize),
}

impl Separators {
    /// Does a separator come where so many digits are left?
    pub fn breaks_before(&self, left: usize) -> bool {
        let (last, others) = self.groups;
        last > 0 && left >= last && (left - last).is_multiple_of(others)
    }
}

/// `1,234,567.89`: of en_US, and where the locale is unknown.
pub const ENGLISH: Separators = Separators { point: ".", thousands: ",", groups: (3, 3) };

const fn separators_of(point: &'static str, thousands: &'static str, groups: (usize, usize)) -> Separators {
    Separators { point, thousands, groups }
}

static LOCALES: &[(Separators, &str)] = &[
    (
        ENGLISH,
        "en_US en_GB ja_JP ar_AE ar_BH ar_JO ar_SY gu_IN he_IL hi_IN ko_KR ms_MY th_TH ur_PK zh_CN zh_TW ar_DZ \
         ar_EG ar_IN ar_IQ ar_KW ar_LB ar_LY ar_MA ar_OM ar_QA ar_SD ar_TN ar_YE en_AU en_CA en_NZ en_PH en_ZA \
         en_ZW es_DO es_GT es_HN es_MX es_NI es_PA es_PE es_PR es_SV es_US zh_HK",
    ),
    (separators_of(",", " ", (3, 3)), "sv_SE cs_CZ et_EE fi_FI lv_LV mk_MK ru_RU sk_SK es_CR sv_FI"),
    (
        separators_of(",", ".", (3, 3)),
        "de_DE be_BY da_DK es_ES fo_FO hu_HU id_ID is_IS lt_LT mn_MN nb_NO ro_RO ru_UA sq_AL tr_TR uk_UA vi_VN \
         de_BE de_LU es_AR es_BO es_CL es_CO es_EC es_PY es_UY es_VE no_NO",
    ),
    (
        separators_of(",", "", (0, 0)),
        "fr_FR ca_ES de_AT eu_ES gl_ES hr_HR nl_NL pl_PL pt_BR pt_PT sl_SI fr_BE fr_CA fr_CH fr_LU it_IT nl_BE el_GR",
    ),
    (separators_of(".", "", (0, 0)), "ar_SA sr_RS"),
    (separators_of(",", "\0", (3, 3)), "bg_BG"),
    (separators_of(",", "'", (3, 3)), "it_CH rm_CH"),
    (separators_of(".", ",", (3, 2)), "ta_IN te_IN en_IN"),
    (separators_of(".", "'", (3, 3)), "de_CH"),
];

/// `None`: no such locale.
pub fn separators(name: &str) -> Option<Separators> {
    let has = |names: &str| names.split(' ').any(|n| n.eq_ignore_ascii_case(name));
    LOCALES.iter().find(|(_, names)| has(names)).map(|(s, _)| *s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_where_locales_have_them() {
        let show = |name: &str| {
            let s = separators(name).unwrap();
            (0..10)
                .map(|i| if i > 0 && s.breaks_before(10 - i) { s.thousands.to_string() + "1" } else { "1".into() })
                .collect::<String>()
        };
        assert_eq!(show("en_us"), "1,111,111,111");
        assert_eq!(show("en_IN"), "1,11,11,11,111");
        assert_eq!(show("fr_FR"), "1111111111");
        assert_eq!(separators("xx"), None);
    }
}
