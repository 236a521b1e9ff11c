/** Of this program; a test holds it equal to package.json. */
export const productVersion = '0.1.0';

/** Of the API that is served. */
export const apiVersion = { major: '1', minor: '37', gitVersion: 'v1.37.0+keelson' } as const;

/** A minor release: `1.25`. */
export type Release = `${number}.${number}`;

export const servedRelease: Release = `${apiVersion.major}.${apiVersion.minor}`;
export const previousRelease: Release = `${apiVersion.major}.${Number(apiVersion.minor) - 1}`;

/** How many minor releases ago another one was; below zero where it is yet to come. */
export function minorsSince(past: Release, release: Release = servedRelease): number {
  const [pastMajor, pastMinor] = numbersOf(past);
  const [major, minor] = numbersOf(release);
  return major === pastMajor ? minor - pastMinor : (major - pastMajor) * Infinity;
}

function numbersOf(release: Release): [major: number, minor: number] {
  const [major, minor] = release.split('.').map(Number);
  return [major!, minor!];
}
