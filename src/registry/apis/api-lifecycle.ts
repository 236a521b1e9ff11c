import { minorsSince, servedRelease, type Release } from '../../config/version.js';
import { apiVersionOf, type GroupVersionKind } from '../../machinery/gvk.js';

/**
 * The releases in which an API version is introduced, deprecated and removed. An absent release is unknown or not
 * planned.
 */
export interface ApiLifecycle {
  readonly introduced?: Release;
  readonly deprecated?: Release;
  /** The first release that does not serve the API version. */
  readonly removed?: Release;
  readonly replacement?: GroupVersionKind;
  /** Deprecation warning set by the author of a CustomResourceDefinition. */
  readonly warning?: string;
}

export function isDeprecated({ deprecated }: ApiLifecycle, release: Release = servedRelease): boolean {
  return deprecated !== undefined && minorsSince(deprecated, release) >= 0;
}

export function isRemoved({ removed }: ApiLifecycle, release: Release = servedRelease): boolean {
  return removed !== undefined && minorsSince(removed, release) >= 0;
}

/**
 * Returns the text of the Warning header, in the words of kube-apiserver; undefined if the version is not deprecated.
 */
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
