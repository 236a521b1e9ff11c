import { ApiError } from '../machinery/api-error.js';
import type { Decoder, Encoding } from './encoding.js';
import { parseAccept, parseContentType, type AcceptClause } from './media-type.js';

/** A transform of the answer (Table, PartialObjectMetadata) that the client asks for. */
export interface Transform {
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly group: string;
  readonly version: string;
}

export interface OutputChoice {
  readonly encoding: Encoding;
  /** Set by `;pretty=1`; the query and the User-Agent may also ask for it. */
  readonly pretty: boolean;
  readonly transform: Transform | undefined;
}

interface OutputOffer {
  /** Encodings of this route, the default first. */
  readonly encodings: readonly Encoding[];
  /** The API group of Table and PartialObjectMetadata in Accept: `meta.k8s.io`. */
  readonly metaGroup: string;
  /** False for answers without transforms: discovery, virtual resources. */
  readonly allowsTransforms: boolean;
  /** True if the route supports watch: a refusal then also lists stream types. */
  readonly canWatch: boolean;
  /**
   * True for kinds that are not in the catalog: encodings that need a generated schema can write only their
   * PartialObjectMetadata, which has such a schema.
   */
  readonly isCustom?: boolean;
}

const memoSizeMax = 500;

/**
 * Chooses encoding and transform by the Accept header. Headers repeat, so choices are memoized by header text. Clauses
 * are tried by preference; the first one that can be served wins.
 */
export class OutputNegotiator {
  private readonly objects = new Map<string, OutputChoice>();
  private readonly streams = new Map<string, OutputChoice>();
  private readonly default: OutputChoice;
  /** Negotiates for objects of a custom kind that are not transformed to PartialObjectMetadata. */
  private readonly custom: OutputNegotiator | undefined;
  constructor(private readonly offer: OutputOffer) {
    this.custom = offer.isCustom
      ? new OutputNegotiator({
          ...offer,
          encodings: offer.encodings.filter(({ takesAnyKind }) => takesAnyKind),
          isCustom: false,
        })
      : undefined;
    this.default = { encoding: offer.encodings[0]!, pretty: false, transform: undefined };
  }

  get mediaTypes(): string[] {
    return this.offer.encodings.map(({ mediaType }) => mediaType);
  }

  negotiate(accept: string | undefined): OutputChoice {
    if (accept === undefined || accept === '') return this.default;
    return this.objects.get(accept) ?? this.remember(this.objects, accept, this.chooseForKind(accept, false));
  }

  /** Chooses among the encodings that can stream. */
  negotiateStream(accept: string | undefined): OutputChoice {
    if (accept === undefined || accept === '') return this.default;
    return this.streams.get(accept) ?? this.remember(this.streams, accept, this.chooseForKind(accept, true));
  }

  private remember(memo: Map<string, OutputChoice>, accept: string, choice: OutputChoice): OutputChoice {
    // Only a flood of invented headers gets here.
    if (memo.size >= memoSizeMax) memo.clear();
    memo.set(accept, choice);
    return choice;
  }

  private chooseForKind(accept: string, isStream: boolean): OutputChoice {
    const choice = this.choose(accept, isStream);
    if (!this.custom || choice.encoding.takesAnyKind || choice.transform?.as.startsWith('PartialObjectMetadata')) {
      return choice;
    }
    return this.custom.choose(accept, isStream);
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

  /** True for media types that the route knows, including stream media types, which are refused. */
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

  /** The answer if no media type in the header is known, which kube-apiserver finds out before negotiation. */
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

/** Returns the decoder of a body; the first one if there is no Content-Type. */
export function negotiateInput<D extends Decoder>(contentType: string | undefined, decoders: readonly D[]): D {
  if (contentType === undefined || contentType === '') return decoders[0]!;
  const exact = decoders.find(({ mediaType }) => mediaType === contentType);
  if (exact) return exact;
  const name = parseContentType(contentType)?.name;
  const found = decoders.find(({ mediaType }) => mediaType === name);
  if (!found) throw ApiError.unsupportedMediaType(decoders.map(({ mediaType }) => mediaType));
  return found;
}

/** True for `?pretty=true`, and for a browser or curl unless `?pretty=false`. */
export function wantsPretty(pretty: string | undefined, userAgent: string | undefined): boolean {
  if (pretty !== undefined && pretty !== '') return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(pretty);
  return userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}
