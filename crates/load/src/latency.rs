//! A latency distribution: HdrHistogram, 1 ns to 5 hours, three significant digits; and its
//! portable form (V2, deflate, base64), the same bytes for the same counts.

use base64::Engine as _;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use hdrhistogram::Histogram;

/// Longest latency kept apart; longer ones count as this.
pub const LONGEST_NS: u64 = 5 * 3600 * 1_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Latencies of one kind of operation.
#[derive(Debug, Clone)]
pub struct Latency {
    histogram: Histogram<u64>,
    max_ns: u64,
}

impl Default for Latency {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS)
            .expect("constant bounds are valid");
        Self { histogram, max_ns: 0 }
    }
}

impl Latency {
    /// Counts one latency.
    pub fn record(&mut self, latency_ns: u64) {
        self.histogram.saturating_record(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("all histograms have the same bounds");
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The longest latency, exact.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The latency that a share `quantile` (0..=1) of the operations did not exceed.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        self.histogram.value_at_quantile(quantile)
    }

    /// V2 + DEFLATE in base64.
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.histogram, &mut bytes)
            .expect("writing to memory does not fail");
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_encoded_form_depends_on_the_counts_alone_and_reads_back(
            values in prop::collection::vec(0u64..LONGEST_NS, 0..200), cut in 0usize..200
        ) {
            let of = |values: &[u64]| {
                let mut latency = Latency::default();
                values.iter().for_each(|&v| latency.record(v));
                latency
            };
            let whole = of(&values);
            let (first, second) = values.split_at(cut.min(values.len()));
            let mut merged = of(second);
            merged.merge(&of(first));
            prop_assert_eq!(merged.encode(), whole.encode());
            prop_assert_eq!(merged.max_ns(), values.iter().copied().max().unwrap_or(0));
            let bytes = base64::engine::general_purpose::STANDARD.decode(whole.encode()).unwrap();
            let back: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
            prop_assert_eq!(back, whole.histogram);
        }
    }

    #[test]
    fn what_is_longer_than_the_range_counts_at_its_end() {
        let mut latency = Latency::default();
        latency.record(u64::MAX);
        assert_eq!(latency.count(), 1);
        assert!(latency.quantile_ns(1.0) >= LONGEST_NS);
    }
}
