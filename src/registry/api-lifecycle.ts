import { apiVersion } from '../config/version.js';
import { apiVersionOf, type GroupVersionKind } from '../machinery/gvk.js';

/** A minor release: `1.25`. */
export type Release = `${number}.${number}`;

/** From when to when an API is there, and what comes after it. What is not said is not known, or never happens. */
export interface ApiLifecycle {
  readonly introduced?: Release;
  readonly deprecated?: Release;
  /** The first release without it. */
  readonly removed?: Release;
  readonly replacement?: GroupVersionKind;
}

const servedRelease: Release = `${Number(apiVersion.major)}.${Number(apiVersion.minor)}`;

export function isDeprecated({ deprecated }: ApiLifecycle, release: Release = servedRelease): boolean {
  return deprecated !== undefined && isReached(deprecated, release);
}

export function isRemoved({ removed }: ApiLifecycle, release: Release = servedRelease): boolean {
  return removed !== undefined && isReached(removed, release);
}

/** The text of the Warning header, as clients know it from kube-apiserver. Undefined for what is not deprecated. */
export function deprecationWarning(
  { group, version, kind }: GroupVersionKind,
  lifecycle: ApiLifecycle,
  release: Release = servedRelease,
): string | undefined {
  const { deprecated, removed, replacement } = lifecycle;
  if (deprecated === undefined || !isDeprecated(lifecycle, release)) return undefined;
  const until = removed === undefined ? '' : `, unavailable in v${removed}+`;
  const instead =
    replacement === undefined
      ? ''
      : `; use ${apiVersionOf(replacement.group, replacement.version)} ${replacement.kind}`;
  return `${apiVersionOf(group, version)} ${kind} is deprecated in v${deprecated}+${until}${instead}`;
}

function isReached(since: Release, release: Release): boolean {
  const [sinceMajor, sinceMinor] = numbersOf(since);
  const [major, minor] = numbersOf(release);
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
}

function numbersOf(release: Release): [major: number, minor: number] {
  const [major, minor] = release.split('.').map(Number);
  return [major!, minor!];
}
