import { markOf } from './catalog-text.js';

/** Facts of a kind besides its fields. */
export interface KindFacts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The package of its struct: `core.v1`. */
  readonly package: string;
  /** Undefined for lists, options and other kinds without a resource of their own. */
  readonly resource: ResourceFacts | undefined;
  readonly lifecycle: Lifecycle;
}

/** Releases as `major.minor`; `removed` is the first one without the kind. */
interface Lifecycle {
  readonly introduced?: Release;
  readonly deprecated?: Release;
  readonly removed?: Release;
  readonly replacement?: { readonly group: string; readonly version: string; readonly kind: string };
}
type Release = `${number}.${number}`;

interface ResourceFacts {
  readonly plural: string;
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
  /** Subresources with methods in client-go. */
  readonly subresources: readonly string[];
}

/** Keyed by `group/version/kind`. `groupOf` completes groups whose domain is configured. */
export function kindTable(text: string, groupOf: (stem: string) => string): Map<string, KindFacts> {
  const table = new Map<string, KindFacts>();
  const complete = (group: string) => (group.endsWith('.') ? groupOf(group.slice(0, -1)) : group);
  let at = { short: '', group: '', version: '' };
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const words = line.trim().split(' ');
    if (!line.startsWith(' ')) {
      const [short = '', ...marks] = words;
      at = { short, group: complete(markOf(marks, 'group') ?? ''), version: markOf(marks, 'version') ?? '' };
      continue;
    }
    const [kind = '', plural = '', ...marks] = words;
    const replacement = markOf(marks, 'replacement')?.split(',');
    table.set(`${at.group}/${at.version}/${kind}`, {
      group: at.group,
      version: at.version,
      kind,
      package: at.short,
      resource:
        plural === '-'
          ? undefined
          : {
              plural,
              namespaced: marks.includes('namespaced'),
              hasStatus: marks.includes('status'),
              subresources: markOf(marks, 'with')?.split(',') ?? [],
            },
      lifecycle: {
        ...releaseOf(marks, 'introduced'),
        ...releaseOf(marks, 'deprecated'),
        ...releaseOf(marks, 'removed'),
        ...(replacement && {
          replacement: { group: complete(replacement[0]!), version: replacement[1]!, kind: replacement[2]! },
        }),
      },
    });
  }
  return table;
}

function releaseOf(marks: readonly string[], name: 'introduced' | 'deprecated' | 'removed'): Lifecycle {
  const release = markOf(marks, name);
  return release === undefined ? {} : { [name]: release as Release };
}
