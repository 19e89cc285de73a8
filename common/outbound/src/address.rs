//! Which numeric addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address belongs to the public internet: globally reachable by the IANA special-purpose registries
/// (RFC 6890 and its updates), and no multicast.
///
/// IPv6 addresses that carry an IPv4 address (mapped, translated, 6to4, Teredo) are refused whole: a public IPv4 host is
/// reachable as itself.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match a {
        // This network, private, loopback; multicast and reserved, with broadcast.
        0 | 10 | 127 | 224..=255 => true,
        // Shared between carriers and their customers.
        100 => (64..=127).contains(&b),
        // Link-local, with the clouds' metadata services.
        169 => b == 254,
        172 => (16..=31).contains(&b),
        // Protocol assignments, documentation, the old 6to4 relays, private.
        192 => matches!((b, c), (0, 0 | 2) | (88, 99)) || b == 168,
        // Benchmarks, documentation.
        198 => matches!(b, 18 | 19) || (b, c) == (51, 100),
        203 => (b, c) == (0, 113),
        _ => false,
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // Only 2000::/3 is given out for global use: this leaves out loopback, mapped, NAT64, unique local, link-local and
    // multicast at once.
    if first & 0xe000 != 0x2000 {
        return false;
    }
    let special = match first {
        // IETF assignments with Teredo (2001::/23), ORCHID, documentation.
        0x2001 => second < 0x0200 || second == 0x0db8,
        // 6to4 holds an IPv4 address.
        0x2002 => true,
        // Documentation (3fff::/20).
        0x3fff => second < 0x1000,
        _ => false,
    };
    !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_public() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "::7f00:1",
        ] {
            assert!(!is_public(address.parse().expect(address)), "{address}");
        }
    }

    #[test]
    fn what_is_public() {
        for address in
            ["8.8.8.8", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.1.0.1", "198.20.0.1", "223.255.255.255", "2606:4700::1111"]
        {
            assert!(is_public(address.parse().expect(address)), "{address}");
        }
    }
}
