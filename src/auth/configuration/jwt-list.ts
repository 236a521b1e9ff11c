import { parseCertificates } from '../../certificates/pem.js';
import type { ConfigReader } from '../../machinery/config-reader.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { signatureAlgorithms } from '../jwt-issuers/signature-algorithms.js';
import { ClaimMappingsReader } from './claim-mappings-reader.js';
import { ExpressionReader } from './expression-reader.js';
import { urlErrors } from './issuer-url.js';
import type { IssuerSource, JwtConfiguration, RequiredClaim, ValidationRule } from './jwt-configuration.js';

const authenticatorsMax = 64;
const wellKnownPath = '/.well-known/openid-configuration';

interface JwtRules {
  /** Issuers of service account tokens, which no entry may have. */
  readonly ownIssuers: readonly string[];
  /** Domains whose keys of `extra` are reserved. */
  readonly reservedDomains: readonly string[];
}

/** Reads `jwt`. Adds all problems to those of the reader; what it returns is usable only if there are none. */
export function readJwtList(root: ConfigReader, rules: JwtRules): readonly JwtConfiguration[] {
  const entries = root.mappings('jwt');
  const add = (errors: readonly FieldError[]) =>
    root.problems.push(...errors.map(({ field, detail }) => `${field}: ${detail}`));
  const listAt = path('jwt');
  if (entries.length > authenticatorsMax) {
    add([fieldError.tooMany(listAt, entries.length, authenticatorsMax)]);
    return [];
  }
  const read = entries.map((entry, index) => new EntryReader(entry, listAt.index(index), rules, add).read());
  add(
    duplicates(
      read.map(({ issuer }) => issuer.url),
      (index) => listAt.index(index).child('issuer', 'url'),
    ),
  );
  add(
    duplicates(
      entries.map((entry) => textOf(entry.raw('issuer'), 'discoveryURL') || undefined),
      (index) => listAt.index(index).child('issuer', 'discoveryURL'),
    ),
  );
  return read;
}

/** Reads one entry of `jwt`, in the order of kube-apiserver. */
class EntryReader {
  private readonly expressions: ExpressionReader;

  constructor(
    private readonly entry: ConfigReader,
    private readonly at: FieldPath,
    private readonly rules: JwtRules,
    private readonly add: (errors: readonly FieldError[]) => void,
  ) {
    this.expressions = new ExpressionReader(add);
    entry.allowOnly('issuer', 'claimValidationRules', 'claimMappings', 'userValidationRules');
  }

  read(): JwtConfiguration {
    const issuer = this.entry
      .mapping('issuer')
      .allowOnly(
        ...['url', 'discoveryURL', 'certificateAuthority', 'audiences', 'audienceMatchPolicy', 'egressSelectorType'],
      );
    const issuerAt = this.at.child('issuer');
    const source = this.issuerSource(issuer, issuerAt);
    const audiences = this.audiences(issuer, issuerAt);
    this.rejectEgressSelector(issuer.string('egressSelectorType') ?? '', issuerAt.child('egressSelectorType'));
    const claimRules = this.claimValidationRules();
    const mappings = this.claimMappings(claimRules.claimRules);
    return {
      ...{ issuer: source, audiences, algorithms: new Set(signatureAlgorithms) },
      ...claimRules,
      ...mappings,
      userRules: this.userValidationRules(),
    };
  }

  private issuerSource(issuer: ConfigReader, at: FieldPath): IssuerSource {
    const url = issuer.string('url') ?? '';
    const discoveryUrl = issuer.string('discoveryURL') ?? '';
    const urlAt = at.child('url');
    this.add(url === '' ? [fieldError.required(urlAt)] : urlErrors(url, urlAt, this.rules.ownIssuers));
    if (discoveryUrl !== '') {
      const discoveryAt = at.child('discoveryURL');
      if (url !== '' && withoutSlashes(url) === withoutSlashes(discoveryUrl)) {
        this.add([fieldError.invalid(discoveryAt, discoveryUrl, 'discoveryURL must be different from URL')]);
      }
      this.add(urlErrors(discoveryUrl, discoveryAt));
    }
    return issuerSource(url, this.certificateAuthority(issuer, at.child('certificateAuthority')), discoveryUrl);
  }

  private certificateAuthority(issuer: ConfigReader, at: FieldPath): string | undefined {
    const pem = issuer.string('certificateAuthority') ?? '';
    if (pem === '') return undefined;
    try {
      parseCertificates(pem, 'the text');
    } catch (error) {
      this.add([fieldError.invalid(at, '<omitted>', error instanceof Error ? error.message : String(error))]);
    }
    return pem;
  }

  private audiences(issuer: ConfigReader, at: FieldPath): readonly string[] {
    const audiences = issuer.strings('audiences');
    const policy = issuer.string('audienceMatchPolicy') ?? '';
    const audiencesAt = at.child('audiences');
    if (audiences.length === 0) {
      this.add([fieldError.required(audiencesAt, `at least one ${String(audiencesAt)} is required`)]);
      return audiences;
    }
    for (const [index, audience] of audiences.entries()) {
      if (audience === '') this.add([fieldError.required(audiencesAt.index(index))]);
    }
    this.add(duplicates(audiences, (index) => audiencesAt.index(index)));
    const isOptional = audiences.length === 1;
    if (policy !== 'MatchAny' && !(isOptional && policy === '')) {
      const rule = isOptional
        ? 'must be empty or MatchAny for single audience'
        : 'must be MatchAny for multiple audiences';
      this.add([fieldError.invalid(at.child('audienceMatchPolicy'), policy, `audienceMatchPolicy ${rule}`)]);
    }
    return audiences;
  }

  private rejectEgressSelector(type: string, at: FieldPath): void {
    if (type === '') return;
    const isKnown = type === 'controlplane' || type === 'cluster';
    this.add([
      isKnown
        ? fieldError.forbidden(
            at,
            'this server has no egress selectors and connects to issuers directly; remove the field',
          )
        : fieldError.invalid(at, type, 'egress selector must be either controlplane or cluster'),
    ]);
  }

  private claimValidationRules(): Pick<JwtConfiguration, 'requiredClaims' | 'claimRules'> {
    const requiredClaims: RequiredClaim[] = [];
    const claimRules: ValidationRule[] = [];
    const seenExpressions = new Set<string>();
    for (const [index, rule] of this.entry.mappings('claimValidationRules').entries()) {
      const at = this.at.child('claimValidationRules').index(index);
      rule.allowOnly('claim', 'requiredValue', 'expression', 'message');
      const [claim, value] = [rule.string('claim') ?? '', rule.string('requiredValue') ?? ''];
      const [text, message] = [rule.string('expression') ?? '', rule.string('message') ?? ''];
      if (claim !== '' && text !== '') {
        this.add([fieldError.invalid(at, claim, "claim and expression can't both be set")]);
      } else if (claim === '' && text === '') {
        this.add([fieldError.required(at, 'claim or expression is required')]);
      } else if (claim !== '') {
        if (message !== '') {
          this.add([fieldError.invalid(at.child('message'), message, 'may not be specified when claim is set')]);
        }
        if (requiredClaims.some((known) => known.claim === claim)) {
          this.add([fieldError.duplicate(at.child('claim'), claim)]);
        }
        requiredClaims.push({ claim, value });
      } else {
        if (value !== '') {
          this.add([
            fieldError.invalid(at.child('requiredValue'), value, 'may not be specified when expression is set'),
          ]);
        }
        const expression = this.expressions.readCondition('claims', text, at.child('expression'), seenExpressions);
        if (expression) claimRules.push({ expression, message });
      }
    }
    return { requiredClaims, claimRules };
  }

  private claimMappings(
    claimRules: readonly ValidationRule[],
  ): Pick<JwtConfiguration, 'username' | 'groups' | 'uid' | 'extra'> {
    const reader = new ClaimMappingsReader(this.expressions, this.rules.reservedDomains, this.add);
    const expressions = claimRules.map(({ expression }) => expression);
    return reader.read(this.entry.mapping('claimMappings'), this.at.child('claimMappings'), expressions);
  }

  private userValidationRules(): readonly ValidationRule[] {
    const seen = new Set<string>();
    return this.entry.mappings('userValidationRules').flatMap((rule, index) => {
      const at = this.at.child('userValidationRules').index(index).child('expression');
      rule.allowOnly('expression', 'message');
      const [text, message] = [rule.string('expression') ?? '', rule.string('message') ?? ''];
      if (text === '') this.add([fieldError.required(at)]);
      const expression = text === '' ? undefined : this.expressions.readCondition('user', text, at, seen);
      return expression ? [{ expression, message }] : [];
    });
  }
}

/** Returns the source of an issuer; without a discovery URL, the document is at the well-known path. */
export function issuerSource(url: string, certificateAuthority: string | undefined, discoveryUrl = ''): IssuerSource {
  return { url, discoveryUrl: discoveryUrl || `${url.replace(/\/$/, '')}${wellKnownPath}`, certificateAuthority };
}

function withoutSlashes(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '/') end--;
  return text.slice(0, end);
}

/** Returns an error for each text that is equal to an earlier one; undefined is none. */
function duplicates(texts: readonly (string | undefined)[], at: (index: number) => FieldPath): FieldError[] {
  const seen = new Set<string>();
  return texts.flatMap((text, index) => {
    if (text === undefined) return [];
    const isDuplicate = seen.has(text);
    seen.add(text);
    return isDuplicate ? [fieldError.duplicate(at(index), text)] : [];
  });
}

function textOf(mapping: unknown, field: string): string {
  if (typeof mapping !== 'object' || mapping === null || !Object.hasOwn(mapping, field)) return '';
  const value: unknown = (mapping as Readonly<Record<string, unknown>>)[field];
  return typeof value === 'string' ? value : '';
}
