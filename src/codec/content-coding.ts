/**
 * True if an Accept-Encoding header asks for gzip by name (RFC 9110, 12.5.3) and does not prefer identity. `*` is not
 * enough.
 */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined || !/gzip/i.test(acceptEncoding)) return false;
  let gzip = 0;
  let identity = 0;
  for (const part of acceptEncoding.split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    if (coding === 'gzip') gzip = Math.max(gzip, qualityOf(parameters));
    else if (coding === 'identity') identity = qualityOf(parameters);
  }
  return gzip > 0 && gzip >= identity;
}

/** Returns 0 for an invalid quality. */
function qualityOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (weight === undefined) return 1;
  const quality = Number(weight.slice(weight.indexOf('=') + 1));
  return quality >= 0 && quality <= 1 ? quality : 0;
}
