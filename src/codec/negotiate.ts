import { ApiError } from '../machinery/api-error.js';
import type { Decoder, Encoding } from './encodings.js';
import { parseAccept, parseContentType, type AcceptClause } from './media-type.js';

/** Another shape that the client wants the answer in. */
export interface Transform {
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly group: string;
  readonly version: string;
}

export interface OutputChoice {
  readonly encoding: Encoding;
  /** Asked for by `;pretty=1`; the query and the user agent may ask for it too. */
  readonly pretty: boolean;
  readonly transform: Transform | undefined;
}

export interface OutputOffer {
  /** What this route can write, the default first. */
  readonly encodings: readonly Encoding[];
  /** The group that tables and metadata are asked for by: `meta.k8s.io`. */
  readonly metaGroup: string;
  /** False where there is but one shape: discovery, virtual resources. */
  readonly allowsTransforms: boolean;
  /** The route can watch, which a refusal mentions. */
  readonly canWatch: boolean;
}

const memoSizeMax = 500;

/**
 * Which encoding and shape an Accept header asks for. Headers repeat, so that an answer is remembered by the header's
 * text and costs one look-up. Clauses are tried best first; the first that can be served wins.
 */
export class OutputNegotiator {
  private readonly objects = new Map<string, OutputChoice>();
  private readonly streams = new Map<string, OutputChoice>();
  private readonly default: OutputChoice;
  constructor(private readonly offer: OutputOffer) {
    this.default = { encoding: offer.encodings[0]!, pretty: false, transform: undefined };
  }

  get mediaTypes(): string[] {
    return this.offer.encodings.map(({ mediaType }) => mediaType);
  }

  negotiate(accept: string | undefined): OutputChoice {
    if (accept === undefined || accept === '') return this.default;
    return this.objects.get(accept) ?? this.remember(this.objects, accept, this.choose(accept, false));
  }

  /** For watches: only encodings that can stream. */
  negotiateStream(accept: string | undefined): OutputChoice {
    if (accept === undefined || accept === '') return this.default;
    return this.streams.get(accept) ?? this.remember(this.streams, accept, this.choose(accept, true));
  }

  private remember(memo: Map<string, OutputChoice>, accept: string, choice: OutputChoice): OutputChoice {
    // Dropping all of them keeps it simple; only a flood of made-up headers gets here.
    if (memo.size >= memoSizeMax) memo.clear();
    memo.set(accept, choice);
    return choice;
  }

  private choose(accept: string, isStream: boolean): OutputChoice {
    const clauses = parseAccept(accept);
    if (!clauses.some(({ name }) => this.isKnown(name))) throw this.notAcceptableByRoute();
    for (const clause of clauses) {
      for (const encoding of this.offer.encodings) {
        const choice = covers(clause.name, encoding.mediaType) && this.accept(clause, encoding);
        if (!choice) continue;
        if (isStream && encoding.streamMediaType === undefined) throw this.notAcceptableStream();
        return choice;
      }
    }
    throw ApiError.notAcceptable(this.mediaTypes);
  }

  /** Streams with a name of their own are known to routes, and yet never asked for by it. */
  private isKnown(name: string): boolean {
    const { encodings, canWatch } = this.offer;
    if (name === '*/*' || encodings.some(({ mediaType }) => mediaType === name)) return true;
    return canWatch && encodings.some(({ streamMediaType }) => streamMediaType === name);
  }

  private accept({ parameters }: AcceptClause, encoding: Encoding): OutputChoice | undefined {
    const stream = parameters.get('stream') ?? '';
    if (stream !== '' && (stream !== 'watch' || encoding.streamMediaType === undefined)) return undefined;
    const pretty = parameters.get('pretty') === '1';
    const as = parameters.get('as');
    if (as === undefined && !parameters.has('g') && !parameters.has('v'))
      return { encoding, pretty, transform: undefined };
    const transform = this.transform(as ?? '', parameters.get('g') ?? '', parameters.get('v') ?? '');
    if (!transform || (transform.as === 'Table' && !encoding.takesTables)) return undefined;
    return { encoding, pretty, transform };
  }

  private transform(as: string, group: string, version: string): Transform | undefined {
    if (!this.offer.allowsTransforms || group !== this.offer.metaGroup) return undefined;
    if (version !== 'v1' && version !== 'v1beta1') return undefined;
    if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined;
    return { as, group, version };
  }

  private streamMediaTypes(): string[] {
    return this.offer.encodings.flatMap(({ mediaType, streamMediaType }) => {
      if (streamMediaType === undefined) return [];
      return streamMediaType.split(';')[0] === mediaType ? [`${mediaType};stream=watch`] : [streamMediaType];
    });
  }

  private notAcceptableStream(): ApiError {
    return ApiError.notAcceptable(this.streamMediaTypes());
  }

  /** Not one type in the header is known, which routing finds out before negotiation begins. */
  private notAcceptableByRoute(): ApiError {
    const offered = [...this.mediaTypes, ...(this.offer.canWatch ? this.streamMediaTypes() : [])];
    return new ApiError({
      reason: 'NotAcceptable',
      message: `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`,
      details: {},
    });
  }
}

function covers(range: string, mediaType: string): boolean {
  return range === mediaType || range === '*/*' || (range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1)));
}

/** The encoding of a body. Without a Content-Type it is the default one. */
export function negotiateInput<D extends Decoder>(contentType: string | undefined, decoders: readonly D[]): D {
  if (contentType === undefined || contentType === '') return decoders[0]!;
  const exact = decoders.find(({ mediaType }) => mediaType === contentType);
  if (exact) return exact;
  const name = parseContentType(contentType)?.name;
  const found = decoders.find(({ mediaType }) => mediaType === name);
  if (!found) throw ApiError.unsupportedMediaType(decoders.map(({ mediaType }) => mediaType));
  return found;
}

/** `?pretty=true`, or a person's client, unless `?pretty=false`. */
export function wantsPretty(pretty: string | undefined, userAgent: string | undefined): boolean {
  if (pretty !== undefined && pretty !== '') return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(pretty);
  return userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}
