import type { Encoding } from '../codec/encoding.js';
import { parseAccept, type AcceptClause } from '../codec/media-type.js';
import { ApiError } from '../machinery/api-error.js';

export interface DiscoveryChoice {
  readonly encoding: Encoding;
  /** True if the client accepts the aggregated document and the path has one. */
  readonly isAggregated: boolean;
  /** True for `;pretty=1`. */
  readonly pretty: boolean;
}

const memoSizeMax = 200;

/**
 * Chooses the encoding and document of a discovery request. Clients accept the aggregated document first, and the plain
 * one as a fallback:
 *   application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json
 * The first clause that can be served wins.
 */
export class DiscoveryNegotiator {
  private readonly memo = new Map<string, DiscoveryChoice>();
  private readonly default: DiscoveryChoice;

  constructor(
    private readonly encodings: readonly Encoding[],
    private readonly options: {
      readonly group: string;
      readonly hasAggregated: boolean;
      readonly refusesUnknownFirst: boolean;
    },
  ) {
    this.default = { encoding: encodings[0]!, isAggregated: false, pretty: false };
  }

  negotiate(accept: string | undefined): DiscoveryChoice {
    if (accept === undefined || accept === '') return this.default;
    const known = this.memo.get(accept);
    if (known) return known;
    const choice = this.choose(parseAccept(accept));
    // Clients send few different Accept headers; a full memo holds random ones.
    if (this.memo.size >= memoSizeMax) this.memo.clear();
    this.memo.set(accept, choice);
    return choice;
  }

  private choose(clauses: readonly AcceptClause[]): DiscoveryChoice {
    const names = this.encodings.map(({ mediaType }) => mediaType);
    // As kube-apiserver: the route of an APIResourceList first compares media types without their parameters.
    if (
      this.options.refusesUnknownFirst &&
      !clauses.some(({ name }) => names.some((mediaType) => covers(name, mediaType)))
    ) {
      throw new ApiError({
        reason: 'NotAcceptable',
        message: `406: Not Acceptable\n\nAvailable representations: ${names.join(', ')}`,
        details: {},
      });
    }
    for (const { name, parameters } of clauses) {
      const encoding = this.encodings.find(({ mediaType }) => covers(name, mediaType));
      if (!encoding) continue;
      const pretty = parameters.get('pretty') === '1';
      const [as, group, version] = ['as', 'g', 'v'].map((key) => parameters.get(key));
      if (as === undefined && group === undefined && version === undefined)
        return { encoding, isAggregated: false, pretty };
      if (!this.options.hasAggregated) continue;
      if (as === 'APIGroupDiscoveryList' && group === this.options.group && version === 'v2') {
        return { encoding, isAggregated: true, pretty };
      }
    }
    throw ApiError.notAcceptable(names);
  }
}

function covers(range: string, mediaType: string): boolean {
  return range === mediaType || range === '*/*' || (range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1)));
}
