import { minorsSince, servedRelease, type Release } from '../config/version.js';
import { apiVersionOf, type GroupVersionKind } from '../machinery/gvk.js';

/** From when to when an API is there, and what comes after it. What is not said is not known, or never happens. */
export interface ApiLifecycle {
  readonly introduced?: Release;
  readonly deprecated?: Release;
  /** The first release without it. */
  readonly removed?: Release;
  readonly replacement?: GroupVersionKind;
  /** What its author has clients of a deprecated version told. */
  readonly warning?: string;
}

export function isDeprecated({ deprecated }: ApiLifecycle, release: Release = servedRelease): boolean {
  return deprecated !== undefined && minorsSince(deprecated, release) >= 0;
}

export function isRemoved({ removed }: ApiLifecycle, release: Release = servedRelease): boolean {
  return removed !== undefined && minorsSince(removed, release) >= 0;
}

/** The text of the Warning header, as clients know it from kube-apiserver. Undefined for what is not deprecated. */
export function deprecationWarning(
  { group, version, kind }: GroupVersionKind,
  lifecycle: ApiLifecycle,
  release: Release = servedRelease,
): string | undefined {
  const { deprecated, removed, replacement, warning } = lifecycle;
  if (warning !== undefined) return warning;
  if (deprecated === undefined || !isDeprecated(lifecycle, release)) return undefined;
  const until = removed === undefined ? '' : `, unavailable in v${removed}+`;
  const instead =
    replacement === undefined
      ? ''
      : `; use ${apiVersionOf(replacement.group, replacement.version)} ${replacement.kind}`;
  return `${apiVersionOf(group, version)} ${kind} is deprecated in v${deprecated}+${until}${instead}`;
}
