import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';

/** Validates the URL of an issuer or of its discovery document. */
export function urlErrors(text: string, at: FieldPath, ownIssuers: readonly string[] = []): FieldError[] {
  const errors: FieldError[] = [];
  const invalid = (detail: string) => errors.push(fieldError.invalid(at, text, detail));
  if (ownIssuers.includes(text))
    invalid(`URL must not be an issuer of service account tokens: ${ownIssuers.join(', ')}`);
  const url = parse(text);
  if (!url) {
    invalid('must be an absolute URL, for example https://issuer.example.com');
    return errors;
  }
  if (url.protocol !== 'https:') invalid('URL scheme must be https');
  // The parser drops an empty user.
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1] ?? '';
  if (authority.includes('@')) invalid('URL must not contain a username or password');
  if (url.search !== '') invalid('URL must not contain a query');
  if (url.hash !== '') invalid('URL must not contain a fragment');
  return errors;
}

/**
 * Parses a URL; undefined for texts that URL() would change (spaces around it, control characters, backslashes), and for
 * malformed percent-encoding, which it accepts.
 */
function parse(text: string): URL | undefined {
  if (/[\u0000-\u0020\u007f\\]/.test(text) || /%(?![0-9a-f]{2})/i.test(text)) return undefined;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(text)) return undefined;
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
