import type { AuthenticationExpression } from '../../expressions/authentication-expression.js';
import type { ConfigReader } from '../../machinery/config-reader.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { validateDomainPrefixedPath } from '../../machinery/field-rules.js';
import type { ExpressionReader } from './expression-reader.js';
import type { ClaimMapping, ExtraMapping, JwtConfiguration } from './jwt-configuration.js';

type ClaimMappings = Pick<JwtConfiguration, 'username' | 'groups' | 'uid' | 'extra'>;

/** Reads the mappings of claims to a user of one entry of `jwt`, in the order of kube-apiserver. */
export class ClaimMappingsReader {
  constructor(
    private readonly expressions: ExpressionReader,
    /** Domains whose keys of `extra` are reserved. */
    private readonly reservedDomains: readonly string[],
    private readonly add: (errors: readonly FieldError[]) => void,
  ) {}

  /** Reads `claimMappings`, whose check of email_verified may be in an expression of the rules. */
  read(mappings: ConfigReader, at: FieldPath, ruleExpressions: readonly AuthenticationExpression[]): ClaimMappings {
    mappings.allowOnly('username', 'groups', 'uid', 'extra');
    const usernameReader = mappings.mapping('username');
    const { problems } = mappings;
    const problemsBefore = problems.length;
    const username = this.prefixedMapping(usernameReader, at.child('username'));
    const isUsernameValid = problems.length === problemsBefore;
    if (
      !username &&
      (usernameReader.string('claim') ?? '') === '' &&
      (usernameReader.string('expression') ?? '') === ''
    ) {
      this.add([fieldError.required(at.child('username'), 'claim or expression is required')]);
    }
    const groups = this.prefixedMapping(mappings.mapping('groups'), at.child('groups'));
    const uid = this.uidMapping(mappings.mapping('uid'), at.child('uid'));
    const extra = mappings.mappings('extra').flatMap((mapping, index, all) => {
      const earlier = all.slice(0, index).map((other) => other.raw('key'));
      return this.extraMapping(mapping, at.child('extra').index(index), earlier) ?? [];
    });
    const others = [...ruleExpressions, ...extra.map(({ expression }) => expression)];
    if (isUsernameValid) this.requireVerifiedEmail(username?.expression, at.child('username', 'expression'), others);
    return { username: username ?? { claim: '', prefix: '' }, groups, uid, extra };
  }

  private prefixedMapping(reader: ConfigReader, at: FieldPath): ClaimMapping | undefined {
    reader.allowOnly('claim', 'prefix', 'expression');
    const [claim, text] = [reader.string('claim') ?? '', reader.string('expression') ?? ''];
    const prefix = reader.string('prefix');
    if (claim !== '' && text !== '') {
      this.add([fieldError.invalid(at, '', "claim and expression can't both be set")]);
      return undefined;
    }
    if (text !== '') {
      if (prefix !== undefined) {
        this.add([fieldError.invalid(at.child('prefix'), prefix, 'may not be specified when expression is set')]);
      }
      const expression = this.expressions.readMapping(text, at.child('expression'));
      return expression && { expression };
    }
    if (claim === '') return undefined;
    if (prefix === undefined) {
      const detail = 'prefix is required when claim is set; an empty string means no prefix';
      this.add([fieldError.required(at.child('prefix'), detail)]);
    }
    return { claim, prefix: prefix ?? '' };
  }

  private uidMapping(reader: ConfigReader, at: FieldPath): ClaimMapping | undefined {
    reader.allowOnly('claim', 'expression');
    const [claim, text] = [reader.string('claim') ?? '', reader.string('expression') ?? ''];
    if (claim !== '' && text !== '') {
      this.add([fieldError.invalid(at, '', "claim and expression can't both be set")]);
      return undefined;
    }
    if (claim !== '') return { claim, prefix: '' };
    const expression = text === '' ? undefined : this.expressions.readMapping(text, at.child('expression'));
    return expression && { expression };
  }

  private extraMapping(reader: ConfigReader, at: FieldPath, earlier: readonly unknown[]): ExtraMapping | undefined {
    reader.allowOnly('key', 'valueExpression');
    const [key, text] = [reader.string('key') ?? '', reader.string('valueExpression') ?? ''];
    const keyAt = at.child('key');
    this.add(validateDomainPrefixedPath(key, keyAt));
    if (key !== key.toLowerCase()) this.add([fieldError.invalid(keyAt, key, 'must be lowercase')]);
    const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
    const { reservedDomains } = this;
    if (reservedDomains.some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`))) {
      const detail = `${reservedDomains.join(', ')} and their subdomains are reserved for Kubernetes use`;
      this.add([fieldError.invalid(keyAt, key, detail)]);
    }
    if (earlier.includes(key)) {
      this.add([fieldError.duplicate(keyAt, key)]);
      return undefined;
    }
    const valueAt = at.child('valueExpression');
    if (text === '') {
      this.add([fieldError.required(valueAt)]);
      return undefined;
    }
    const expression = this.expressions.readMapping(text, valueAt);
    return expression && { key, expression };
  }

  /** Requires a check of email_verified: an issuer may let a user enter the email address of another one. */
  private requireVerifiedEmail(
    username: AuthenticationExpression | undefined,
    at: FieldPath,
    others: readonly AuthenticationExpression[],
  ): void {
    if (!username?.selectsClaim('email')) return;
    if ([username, ...others].some((expression) => expression.selectsClaim('email_verified'))) return;
    this.add([
      fieldError.invalid(
        at,
        username.text,
        'claims.email_verified must be used in claimMappings.username.expression or ' +
          'claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in ' +
          'claimMappings.username.expression',
      ),
    ]);
  }
}
