//! Medians and minima of noisy samples.

/// The middle value; the mean of the two middle ones if their number is even.
///
/// # Panics
/// If there are no samples.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    } else {
        sorted[middle]
    }
}

/// The smallest value.
pub fn minimum(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The median of `ours / theirs` taken pair by pair.
///
/// Noise that slows a whole round falls out of the quotient before the median is taken,
/// which a quotient of two medians does not offer.
pub fn median_ratio(ours: &[f64], theirs: &[f64]) -> f64 {
    let ratios: Vec<_> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    median(&ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_ignores_order_and_outliers() {
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 1000.0, 2.0]), 3.0);
    }

    #[test]
    fn minimum_finds_the_smallest() {
        assert_eq!(minimum(&[3.0, 0.5, 7.0]), 0.5);
    }

    #[test]
    fn ratio_is_taken_round_by_round() {
        // Both slow down tenfold in the second round; the ratio stays.
        assert_eq!(median_ratio(&[2.0, 20.0, 2.0], &[1.0, 10.0, 1.0]), 2.0);
        // A quotient of medians would say 1.0 here.
        assert_eq!(median_ratio(&[2.0, 4.0, 6.0], &[4.0, 1.0, 5.0]), 1.2);
    }
}
