import type { Implementation } from '../../check/declarations.js';
import { declare, member, overload } from '../../check/declarations.js';
import { opaqueType, types } from '../../types.js';
import { quote } from '../../values/texts.js';
import type { Value } from '../../values/value.js';
import { CelError, OpaqueValue, noSuchOverload, orNoSuchOverload } from '../../values/value.js';
import type { Library } from '../library.js';
import type { Address, Prefix } from './addresses.js';
import {
  containsAddress,
  containsPrefix,
  formatAddress,
  formatPrefix,
  isGlobalUnicast,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isMapped,
  isUnspecified,
  masked,
  parseAddress,
  parsePrefix,
} from './addresses.js';

/** ip('10.0.0.1') and cidr('10.0.0.0/8'). */
const { bool, int, string } = types;
const ipType = opaqueType('net.IP');
const cidrType = opaqueType('net.CIDR');

class Ip extends OpaqueValue {
  readonly type = ipType;
  constructor(readonly address: Address) {
    super();
  }
  equals(other: Value): Value {
    if (!(other instanceof Ip)) return orNoSuchOverload(other);
    return other.address.family === this.address.family && other.address.value === this.address.value;
  }
  override toString(): string {
    return formatAddress(this.address);
  }
  override get size(): number {
    return this.address.family === 4 ? 4 : 16;
  }
}

class Cidr extends OpaqueValue {
  readonly type = cidrType;
  constructor(readonly prefix: Prefix) {
    super();
  }
  equals(other: Value): Value {
    if (!(other instanceof Cidr)) return orNoSuchOverload(other);
    return formatPrefix(this.prefix) === formatPrefix(other.prefix);
  }
  override toString(): string {
    return formatPrefix(this.prefix);
  }
  override get size(): number {
    return Math.ceil(this.prefix.bits / 8);
  }
}

function parseIp(text: string): Ip | CelError {
  const address = parseAddress(text);
  if (typeof address === 'string')
    return new CelError(`IP Address ${quote(text)} parse error during conversion from string: ${address}`);
  if (address.zone !== '') return new CelError(`IP address ${quote(text)} with zone value is not allowed`);
  if (isMapped(address)) return new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`);
  return new Ip(address);
}

const conversion = 'network address parse error during conversion from string: ';
function parseCidr(text: string): Cidr | CelError {
  const prefix = parsePrefix(text);
  if (typeof prefix === 'string') return new CelError(conversion + prefix);
  if (isMapped(prefix.address)) return new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`);
  return new Cidr(prefix);
}
function toCidr(text: string): Cidr | CelError {
  const cidr = parseCidr(text);
  return cidr instanceof CelError ? new CelError(conversion + cidr.message) : cidr;
}

const ofText =
  (read: (text: string) => Value): Implementation =>
  (value) =>
    typeof value === 'string' ? read(value) : orNoSuchOverload(value);
const ofIp =
  (read: (ip: Ip) => Value): Implementation =>
  (value) =>
    value instanceof Ip ? read(value) : orNoSuchOverload(value);
const ofCidr =
  (read: (cidr: Cidr, other: Value) => Value): Implementation =>
  (value, other) =>
    value instanceof Cidr ? read(value, other) : orNoSuchOverload(value);

const test = (name: string, id: string, holds: (address: Address) => boolean) =>
  declare(
    name,
    member(
      id,
      [ipType],
      bool,
      ofIp(({ address }) => holds(address)),
    ),
  );

export const ipLibrary: Library = {
  name: 'kubernetes.net.ip',
  types: [ipType],
  functions: [
    declare('ip', overload('string_to_ip', [string], ipType, ofText(parseIp))),
    declare(
      'family',
      member(
        'ip_family',
        [ipType],
        int,
        ofIp(({ address }) => address.family),
      ),
    ),
    declare(
      'ip.isCanonical',
      overload(
        'ip_is_canonical',
        [string],
        bool,
        ofText((text) => {
          const ip = parseIp(text);
          return ip instanceof CelError ? ip : ip.toString() === text;
        }),
      ),
    ),
    test('isUnspecified', 'ip_is_unspecified', isUnspecified),
    test('isLoopback', 'ip_is_loopback', isLoopback),
    test('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    test('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    test('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
    declare(
      'isIP',
      overload(
        'is_ip',
        [string],
        bool,
        ofText((text) => !(parseIp(text) instanceof CelError)),
      ),
    ),
    declare('string', overload('ip_to_string', [ipType], string, ofIp(String))),
  ],
};

const containsIp = ({ prefix }: Cidr, other: Value): Value =>
  other instanceof Ip ? containsAddress(prefix, other.address) : noSuchOverload;
const containsCidr = ({ prefix }: Cidr, other: Value): Value =>
  other instanceof Cidr ? containsPrefix(prefix, other.prefix) : orNoSuchOverload(other);

export const cidrLibrary: Library = {
  name: 'kubernetes.net.cidr',
  types: [cidrType],
  functions: [
    declare('cidr', overload('string_to_cidr', [string], cidrType, ofText(toCidr))),
    declare(
      'containsIP',
      member(
        'cidr_contains_ip_string',
        [cidrType, string],
        bool,
        ofCidr((cidr, text) => containsIp(cidr, parseIp(text as string))),
      ),
      member('cidr_contains_ip_ip', [cidrType, ipType], bool, ofCidr(containsIp)),
    ),
    declare(
      'containsCIDR',
      member(
        'cidr_contains_cidr_string',
        [cidrType, string],
        bool,
        ofCidr((cidr, text) => containsCidr(cidr, toCidr(text as string))),
      ),
      member('cidr_contains_cidr', [cidrType, cidrType], bool, ofCidr(containsCidr)),
    ),
    declare(
      'ip',
      member(
        'cidr_ip',
        [cidrType],
        ipType,
        ofCidr(({ prefix }) => new Ip(prefix.address)),
      ),
    ),
    declare(
      'prefixLength',
      member(
        'cidr_prefix_length',
        [cidrType],
        int,
        ofCidr(({ prefix }) => prefix.bits),
      ),
    ),
    declare(
      'masked',
      member(
        'cidr_masked',
        [cidrType],
        cidrType,
        ofCidr(({ prefix }) => new Cidr(masked(prefix))),
      ),
    ),
    declare(
      'isCIDR',
      overload(
        'is_cidr',
        [string],
        bool,
        ofText((text) => !(parseCidr(text) instanceof CelError)),
      ),
    ),
    declare(
      'string',
      overload(
        'cidr_to_string',
        [cidrType],
        string,
        ofCidr((cidr) => cidr.toString()),
      ),
    ),
  ],
};
