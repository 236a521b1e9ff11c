/**
 * Whether an Accept-Encoding header asks for gzip (RFC 9110, 12.5.3): it must be named, `*` is no reason to do the
 * work, and no compression must not be liked better.
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

/** What is no quality counts as none at all. */
function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (given === undefined) return 1;
  const quality = Number(given.slice(given.indexOf('=') + 1));
  return quality >= 0 && quality <= 1 ? quality : 0;
}
