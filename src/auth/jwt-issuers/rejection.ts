/** Kinds of rejected tokens, for the log. */
type RejectionKind =
  'not ready' | 'header' | 'signature' | 'claims' | 'audience' | 'time' | 'distributed claims' | 'mapping' | 'rule';

/** The reason for which a token is not accepted. The client itself only gets a 401. */
export class Rejection {
  constructor(
    readonly kind: RejectionKind,
    /** For the log and TokenReviews; never contains values of claims. */
    readonly reason: string,
    /** For TokenReviews. */
    readonly detail = '',
  ) {}
}

/** Throws a Rejection. */
export function reject(...values: ConstructorParameters<typeof Rejection>): never {
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- JwtIssuer catches it; a stack would cost more than the rest
  throw new Rejection(...values);
}
