//! Time as servers write it, and the clock that retries and tokens live by.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where time comes from. Tests bring their own.
pub trait Clock: Send + Sync {
    /// Seconds since 1970, as signatures and tokens use them.
    fn unix_s(&self) -> u64;
    /// Time since some fixed moment; never goes back.
    fn monotonic(&self) -> Duration;
    /// Waits.
    fn sleep(&self, time: Duration);
}

/// The system's clocks.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn unix_s(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// A clock that only sleeping and [`ManualClock::advance`] move: for tests.
#[derive(Debug, Default)]
pub struct ManualClock {
    ms: AtomicU64,
}

impl ManualClock {
    /// A clock that stands at `unix_s`.
    pub fn at(unix_s: u64) -> Self {
        Self { ms: AtomicU64::new(unix_s * 1000) }
    }

    /// Moves it on.
    pub fn advance(&self, time: Duration) {
        self.ms.fetch_add(time.as_millis() as u64, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn unix_s(&self) -> u64 {
        self.ms.load(Ordering::Relaxed) / 1000
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.ms.load(Ordering::Relaxed))
    }

    fn sleep(&self, time: Duration) {
        self.advance(time);
    }
}

/// `20130524T000000Z`, as SigV4 wants it. Its first eight characters are the date.
pub fn basic_iso(unix_s: u64) -> String {
    let (year, month, day) = civil_from_days((unix_s / 86_400) as i64);
    let (h, m, s) = (unix_s / 3600 % 24, unix_s / 60 % 60, unix_s % 60);
    format!("{year:04}{month:02}{day:02}T{h:02}{m:02}{s:02}Z")
}

/// Seconds since 1970 of `Fri, 24 May 2013 00:00:00 GMT` (RFC 9110, IMF-fixdate).
pub fn parse_http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    unix_from(year.parse().ok()?, month, day.parse().ok()?, time)
}

/// Seconds since 1970 of `2013-05-24T00:00:00.000000Z`, as Keystone writes it (always UTC).
pub fn parse_iso(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut numbers = date.splitn(3, '-');
    let mut next = || numbers.next()?.parse().ok();
    let (year, month, day) = (next()?, next()?, next()?);
    unix_from(year, month, day, time)
}

fn unix_from(year: u64, month: u64, day: u64, time: &str) -> Option<u64> {
    let mut numbers = time.split('.').next()?.splitn(3, ':');
    let mut next = |below: u64| numbers.next()?.parse().ok().filter(|&n: &u64| n < below);
    let (h, m, s) = (next(24)?, next(60)?, next(61)?);
    let sound =
        (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    sound.then(|| {
        days_from_civil(year as i64, month as i64, day as i64) as u64 * 86_400
            + h * 3600
            + m * 60
            + s
    })
}

/// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_same_moment_is_read_and_written_in_all_forms() {
        assert_eq!(basic_iso(1_369_353_600), "20130524T000000Z");
        assert_eq!(parse_http_date("Fri, 24 May 2013 00:00:00 GMT"), Some(1_369_353_600));
        assert_eq!(parse_iso("2013-05-24T00:00:00.000000Z"), Some(1_369_353_600));
        assert_eq!(basic_iso(951_782_400), "20000229T000000Z");
        assert_eq!(basic_iso(4_102_444_799), "20991231T235959Z");
    }

    proptest! {
        #[test]
        fn days_and_dates_are_inverse(days in 0i64..2_900_000) {
            let (year, month, day) = civil_from_days(days);
            prop_assert_eq!(days_from_civil(year, month, day), days);
        }

        #[test]
        fn reading_anything_as_a_date_does_not_panic(text: String) {
            let _ = (parse_http_date(&text), parse_iso(&text));
        }
    }
}
