import type { IncomingHttpHeaders } from 'node:http';
import { familyOf } from '../machinery/ip-addresses.js';

/** Returns the addresses of the client and its proxies, as the client and its proxies report them, then the peer. */
export function sourceAddresses(headers: IncomingHttpHeaders, peer: string | undefined): string[] {
  const found: string[] = [];
  const forwarded = headers['x-forwarded-for'];
  const real = headers['x-real-ip'];
  if (typeof forwarded === 'string' && forwarded !== '') {
    for (const part of forwarded.split(',')) {
      const address = addressOf(part.trim());
      if (address !== undefined) found.push(address);
    }
  }
  if (typeof real === 'string' && real !== '') {
    const address = addressOf(real);
    if (address !== undefined && !found.includes(address)) found.push(address);
  }
  const own = peer === undefined ? undefined : addressOf(peer);
  if (own !== undefined && found.at(-1) !== own) found.push(own);
  return found;
}

const mappedPrefix = '::ffff:';

/** Returns the address in canonical form, undefined if the text is none. */
function addressOf(text: string): string | undefined {
  const family = familyOf(text);
  if (family === 0) return undefined;
  if (family === 4) return text;
  const unmapped = text.toLowerCase().startsWith(mappedPrefix) ? text.slice(mappedPrefix.length) : '';
  if (familyOf(unmapped) === 4) return unmapped;
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}
