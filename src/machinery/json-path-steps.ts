/** A step of a path, applied to all values found so far. */
export type Step =
  | { readonly step: 'field'; readonly name: string }
  | { readonly step: 'wildcard' }
  | { readonly step: 'recursive' }
  | { readonly step: 'item'; readonly index: number }
  | { readonly step: 'slice'; readonly from: number; readonly to: number | undefined; readonly every: number }
  | { readonly step: 'union'; readonly of: readonly Steps[] }
  | { readonly step: 'exists'; readonly path: Steps }
  | { readonly step: 'filter'; readonly left: Steps; readonly operator: string; readonly right: Steps }
  | { readonly step: 'literal'; readonly value: string | number | boolean }
  /** An unknown word: the path finds nothing. */
  | { readonly step: 'unknown' };

export type Steps = readonly Step[];
