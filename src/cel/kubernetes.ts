import { durationValidator, homogeneousValidator, timestampValidator } from './check/validators.js';
import type { EnvironmentOptions } from './environment.js';
import { Environment } from './environment.js';
import { authorizerLibrary, authorizerSelectorsLibrary } from './libraries/kubernetes/authorizer.js';
import { formatLibrary } from './libraries/kubernetes/formats.js';
import { cidrLibrary, ipLibrary } from './libraries/kubernetes/ip.js';
import { quantityLibrary } from './libraries/kubernetes/quantity.js';
import { semverLibrary } from './libraries/kubernetes/semver.js';
import { urlLibrary } from './libraries/kubernetes/url.js';
import { kubernetesListsLibrary } from './libraries/kubernetes-lists.js';
import type { Library, Version } from './libraries/library.js';
import { listsLibrary } from './libraries/lists.js';
import { optionalLibrary } from './libraries/optional.js';
import type { RegexEngine } from './libraries/regex.js';
import { matchesLibrary, regexLibrary, regexValidatorLibrary } from './libraries/regex.js';
import { setsLibrary } from './libraries/sets.js';
import { standardLibrary } from './libraries/standard.js';
import { stringsLibrary } from './libraries/strings.js';
import { twoVariableLibrary } from './libraries/two-variables.js';
import { wellKnownTypesLibrary } from './libraries/well-known-types.js';

/** The libraries of Kubernetes, and the releases that have them. */
interface VersionedLibrary {
  readonly library: Library;
  /** The minor release of Kubernetes 1 that introduced it. */
  readonly since: number;
  /** The one that has another instead. */
  readonly until?: number;
  /** The feature gate that new expressions need, too. */
  readonly featureGate?: string;
}

interface KubernetesOptions extends EnvironmentOptions {
  readonly regex: RegexEngine;
  /** The release that new expressions must work with: one before the server's, so that it can be downgraded. */
  readonly compatibilityVersion: Version;
  /** 'new' refuses what later releases introduced; 'stored' takes all that any release has. */
  readonly mode: 'new' | 'stored';
  /** True for the feature gates that are on; all are without it. */
  readonly isEnabled?: (featureGate: string) => boolean;
}

const comparisons: Library = { name: 'comparisons of numbers', comparesAcrossTypes: true };
const homogeneousLiterals: Library = { name: 'homogeneous literals', validators: [homogeneousValidator] };
const literalValidators: Library = {
  name: 'literal validators',
  validators: [durationValidator, timestampValidator],
};

function versionedLibraries(regex: RegexEngine): readonly VersionedLibrary[] {
  return [
    { library: standardLibrary, since: 0 },
    { library: wellKnownTypesLibrary, since: 0 },
    { library: matchesLibrary(regex), since: 0 },
    { library: homogeneousLiterals, since: 0 },
    { library: urlLibrary, since: 0 },
    { library: regexLibrary(regex), since: 0 },
    { library: kubernetesListsLibrary, since: 0 },
    { library: authorizerLibrary, since: 27 },
    { library: comparisons, since: 28 },
    { library: optionalLibrary, since: 28 },
    { library: quantityLibrary, since: 28 },
    { library: literalValidators, since: 29 },
    { library: regexValidatorLibrary(regex), since: 29 },
    { library: stringsLibrary(0), since: 0, until: 29 },
    { library: stringsLibrary(2), since: 29 },
    { library: setsLibrary, since: 29 },
    { library: ipLibrary, since: 30 },
    { library: cidrLibrary, since: 30 },
    { library: formatLibrary, since: 31 },
    { library: authorizerSelectorsLibrary, since: 31, featureGate: 'AuthorizeWithSelectors' },
    { library: twoVariableLibrary, since: 32 },
    { library: semverLibrary, since: 33 },
    { library: listsLibrary, since: 34 },
  ];
}

const tables = new WeakMap<
  RegexEngine,
  { readonly all: readonly VersionedLibrary[]; readonly chosen: Map<string, readonly Library[]> }
>();

/** The libraries of a release; the same ones are the same list, so that their functions are merged once. */
export function kubernetesLibraries({
  regex,
  compatibilityVersion: { major, minor },
  mode,
  isEnabled,
}: Pick<KubernetesOptions, 'regex' | 'compatibilityVersion' | 'mode' | 'isEnabled'>): readonly Library[] {
  let table = tables.get(regex);
  if (!table) tables.set(regex, (table = { all: versionedLibraries(regex), chosen: new Map() }));
  const release = mode === 'stored' || major > 1 ? Infinity : minor;
  const chosen = table.all.filter(({ since, until, featureGate }) => {
    if (mode === 'new' && featureGate !== undefined && isEnabled?.(featureGate) === false) return false;
    return release >= since && (until === undefined || release < until);
  });
  const key = chosen.map(({ library }, index) => `${index}:${library.name}`).join();
  let libraries = table.chosen.get(key);
  if (!libraries) table.chosen.set(key, (libraries = chosen.map(({ library }) => library)));
  return libraries;
}

/** The environment in which Kubernetes compiles expressions, with variables and more libraries of the caller. */
export function kubernetesEnvironment(options: KubernetesOptions): Environment {
  const base = kubernetesLibraries(options);
  const libraries = options.libraries ? [...base, ...options.libraries] : base;
  const { variables, provider, expressionCodePointsMax } = options;
  return new Environment({
    libraries,
    ...(variables && { variables }),
    ...(provider && { provider }),
    ...(expressionCodePointsMax !== undefined && { expressionCodePointsMax }),
  });
}
