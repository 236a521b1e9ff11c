import { isIP } from 'node:net';

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : [''];

/** True for a list of URLs as `http://host:2379`. The empty list is checked together with the backend. */
export function areServerUrls(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    (value.length === 0 || texts(value).every((url) => /^(https?|unixs?):\/\/[^\s/,]+\/?$/.test(url)))
  );
}

/** True for one CIDR, or two of different IP families. */
export function areAddressRanges(value: unknown): boolean {
  const families = texts(value).map(cidrFamily);
  return (
    families.every((family) => family !== 0) &&
    (families.length === 1 || (families.length === 2 && families[0] !== families[1]))
  );
}

function cidrFamily(cidr: string): number {
  const match = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(cidr);
  const family = isIP(match?.[1] ?? '');
  return Number(match?.[2]) <= (family === 4 ? 32 : 128) ? family : 0;
}

/** True if all expressions are anchored; unanchored, `example.com` would also match evil-example.com. */
export function arePinnedOrigins(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    (value.length === 0 ||
      texts(value).every((origin) => /\^|\/\//.test(origin) && /[$:]/.test(origin) && isPattern(origin)))
  );
}

function isPattern(text: string): boolean {
  try {
    // eslint-disable-next-line no-restricted-syntax -- from a flag of the administrator
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/** True for a number of processes, or `auto`. */
export function areProcesses(value: unknown): boolean {
  return typeof value === 'string' && (value === 'auto' || (/^[1-9]\d?$/.test(value) && Number(value) <= processesMax));
}

/** More would only compete for the process with the store. */
export const processesMax = 64;
