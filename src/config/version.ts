/** Version of this program. A test compares it with package.json. */
export const productVersion = '0.1.0';

/** Version of the served API. */
export const apiVersion = { major: '1', minor: '37', gitVersion: 'v1.37.0+keelson' } as const;

/** A minor release: `1.25`. */
export type Release = `${number}.${number}`;

export const servedRelease: Release = `${apiVersion.major}.${apiVersion.minor}`;
export const previousRelease: Release = `${apiVersion.major}.${Number(apiVersion.minor) - 1}`;

/** Returns the number of minor releases since `past`; negative if it is in the future. */
export function minorsSince(past: Release, release: Release = servedRelease): number {
  const [pastMajor, pastMinor] = numbersOf(past);
  const [major, minor] = numbersOf(release);
  return major === pastMajor ? minor - pastMinor : (major - pastMajor) * Infinity;
}

function numbersOf(release: Release): [major: number, minor: number] {
  const [major, minor] = release.split('.').map(Number);
  return [major!, minor!];
}
