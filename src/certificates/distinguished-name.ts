import { CertificateError } from './certificate-error.js';
import { derElements, type DerElement } from './der.js';

/**
 * Distinguished names of certificates and certificate requests, parsed by the same code: the name that was checked in a
 * request is the name that its certificate authenticates. Strings are decoded by their ASN.1 tag, as in Go's
 * crypto/x509; a string of any other type makes the whole name invalid.
 *
 *   SEQUENCE { SET { SEQUENCE { OBJECT IDENTIFIER, string } … } … }
 */
interface NameAttribute {
  /** The DER contents of the object identifier, in hex. */
  readonly type: string;
  readonly value: string;
}

/** Attribute types by the hex of their object identifiers. */
export const nameAttributes = {
  commonName: '550403',
  organization: '55040a',
  /** 1.3.6.1.4.1.57683.2: uid of a user (registered for Kubernetes, KEP-5285). */
  uid: '2b0601040183c25302',
} as const;

const tags = { objectIdentifier: 0x06, sequence: 0x30, set: 0x31 };

/** Parses a name; throws CertificateError if it is malformed or contains a value that is not a string. */
export function readDistinguishedName(name: DerElement): NameAttribute[] {
  if (name.tag !== tags.sequence) throw malformed('it is not a sequence');
  return derElements(name.content).flatMap((set) => {
    if (set.tag !== tags.set) throw malformed('it contains an element that is not a set');
    return derElements(set.content).map(readAttribute);
  });
}

/** Returns the values of one attribute, in order. */
export function valuesOf(name: readonly NameAttribute[], type: string): string[] {
  return name.filter((attribute) => attribute.type === type).map(({ value }) => value);
}

function readAttribute(pair: DerElement): NameAttribute {
  const [id, value, ...more] = derElements(pair.content);
  if (pair.tag !== tags.sequence || id?.tag !== tags.objectIdentifier || !value || more.length > 0) {
    throw malformed('an attribute is not a type and a value');
  }
  if (id.content.length === 0 || hasPaddedArc(id.content)) throw malformed('the type of an attribute is invalid');
  return { type: id.content.toString('hex'), value: readString(value) };
}

/**
 * True if a number (arc) of the object identifier, encoded in base 128, has leading zeros: another encoding of the
 * same.
 */
function hasPaddedArc(id: Buffer): boolean {
  return id.some((byte, index) => byte === 0x80 && (index === 0 || id[index - 1]! < 0x80));
}

const printable = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/;
const numeric = /^[0-9 ]*$/;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decoders by the tag of the ASN.1 string type. As Go, without UniversalString. */
const decoders: Readonly<Record<number, (bytes: Buffer) => string | undefined>> = {
  0x0c: (bytes) => {
    try {
      return strictUtf8.decode(bytes);
    } catch {
      return undefined;
    }
  },
  0x12: (bytes) => matching(bytes, numeric),
  0x13: (bytes) => matching(bytes, printable),
  // T61String is obsolete and used for ISO 8859-1.
  0x14: (bytes) => bytes.toString('latin1'),
  0x16: (bytes) => (bytes.some((byte) => byte >= 0x80) ? undefined : bytes.toString('latin1')),
  0x1e: readBmpString,
};

function readString({ tag, content }: DerElement): string {
  const decode = decoders[tag];
  if (!decode) throw malformed(`a string has the unsupported type ${tag}`);
  const text = decode(content);
  if (text === undefined) throw malformed(`a string is not valid for its type ${tag}`);
  return text;
}

function matching(bytes: Buffer, pattern: RegExp): string | undefined {
  const text = bytes.toString('latin1');
  return pattern.test(text) ? text : undefined;
}

/**
 * Decodes UCS-2 with an optional terminating zero. Returns undefined if the text contains surrogates or non-characters.
 */
function readBmpString(bytes: Buffer): string | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  const codes = Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readUInt16BE(index * 2));
  if (codes.at(-1) === 0) codes.pop();
  const isWrong = (code: number) =>
    (code >= 0xd800 && code <= 0xdfff) || (code >= 0xfdd0 && code <= 0xfdef) || code >= 0xfffe;
  return codes.some(isWrong) ? undefined : codes.map((code) => String.fromCharCode(code)).join('');
}

function malformed(reason: string): CertificateError {
  return new CertificateError(`malformed distinguished name: ${reason}`);
}
