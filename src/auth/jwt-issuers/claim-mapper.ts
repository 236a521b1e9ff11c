import { textsOf, type AuthenticationExpression } from '../../expressions/authentication-expression.js';
import { isMapping } from '../../machinery/config-reader.js';
import { goQuote } from '../../machinery/field-error.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { ClaimMapping, JwtConfiguration } from '../configuration/jwt-configuration.js';
import { reject } from './rejection.js';

/** Claims as decoded: of any type. */
export interface Claims {
  readonly email_verified?: unknown;
  readonly jti?: unknown;
  readonly _claim_names?: unknown;
  readonly _claim_sources?: unknown;
  readonly [claim: string]: unknown;
}

/** Cost of all expressions for one token: about 100 ms. kube-apiserver allows twice as much for each of them. */
const costMax = 500_000;

type Mappings = Pick<
  JwtConfiguration,
  'username' | 'groups' | 'uid' | 'extra' | 'requiredClaims' | 'claimRules' | 'userRules'
>;

/** Maps the claims of a verified token to a user, without the group of all authenticated users. Throws a Rejection. */
export function userOfClaims(claims: Claims, mappings: Mappings, credentialIdKey: string): UserInfo {
  checkClaimNames(claims);
  const run = new Evaluation();
  const user = {
    name: userNameOf(claims, mappings.username, run),
    groups: groupsOf(claims, mappings.groups, run),
    uid: uidOf(claims, mappings.uid, run),
    extra: extraOf(claims, mappings, credentialIdKey, run),
  };
  for (const { claim, value } of mappings.requiredClaims) {
    if (textClaim(claims, claim) !== value) reject('rule', `required claim ${claim} has another value`);
  }
  checkRules(mappings.claimRules, { claims }, run);
  const { name: username, uid, groups, extra } = user;
  checkRules(mappings.userRules, { user: { username, uid, groups, extra } }, run);
  return user;
}

function userNameOf(claims: Claims, mapping: ClaimMapping, run: Evaluation): string {
  if (mapping.expression) {
    const name = run.result(mapping.expression, { claims });
    if (typeof name !== 'string') return reject('mapping', 'username claim expression must return a string');
    return name === '' ? reject('mapping', 'username claim expression returned an empty string') : name;
  }
  const name = textClaim(claims, mapping.claim);
  if (name === '') reject('mapping', `username claim ${goQuote(mapping.claim)} is empty`);
  // An address that the issuer has not verified may be that of another user.
  if (mapping.claim === 'email' && hasClaim(claims, 'email_verified') && claims.email_verified !== true) {
    reject('mapping', 'email is not verified');
  }
  return mapping.prefix + name;
}

function groupsOf(claims: Claims, mapping: ClaimMapping | undefined, run: Evaluation): readonly string[] {
  if (!mapping) return [];
  if (mapping.expression) return listResult(mapping.expression, 'groups', claims, run);
  const { claim, prefix } = mapping;
  if (!hasClaim(claims, claim)) {
    rejectDistributed(claims, claim);
    return [];
  }
  const value = claims[claim];
  const groups: readonly unknown[] = Array.isArray(value) ? value : value === null ? [] : [value];
  return groups.map((group) => {
    if (typeof group !== 'string') {
      return reject('mapping', `groups claim ${goQuote(claim)} must be a string or a list of strings`);
    }
    return prefix + group;
  });
}

/** Rejects a token whose claim must be fetched from another server (OpenID Connect Core 1.0, section 5.6.2). */
function rejectDistributed(claims: Claims, claim: string): void {
  if (!hasClaim(claims, '_claim_names')) return;
  const { _claim_names: names } = claims;
  const isOther = isMapping(names) && !Object.hasOwn(names, claim);
  if (isOther && hasClaim(claims, '_claim_sources')) return;
  reject(
    'distributed claims',
    `claim ${goQuote(claim)} is a distributed claim, which this server does not resolve; configure the issuer to include it`,
  );
}

/** Rejects distributed claims whose source is missing, also if no mapping uses them, as kube-apiserver does. */
function checkClaimNames({ _claim_names: names, _claim_sources: sources }: Claims): void {
  if (names === undefined || names === null) return;
  const isWhole =
    isMapping(names) &&
    Object.values(names).every(
      (name) => typeof name === 'string' && name !== '' && isMapping(sources) && Object.hasOwn(sources, name),
    );
  if (!isWhole) reject('distributed claims', 'the claim "_claim_names" names no source in "_claim_sources"');
}

function uidOf(claims: Claims, mapping: ClaimMapping | undefined, run: Evaluation): string {
  if (!mapping) return '';
  if (!mapping.expression) return textClaim(claims, mapping.claim);
  const uid = run.result(mapping.expression, { claims });
  return typeof uid === 'string' ? uid : reject('mapping', 'uid claim expression must return a string');
}

function extraOf(claims: Claims, { extra }: Mappings, credentialIdKey: string, run: Evaluation): UserInfo['extra'] {
  const id = hasClaim(claims, 'jti') ? claims.jti : undefined;
  const all: [string, readonly string[]][] =
    typeof id === 'string' && id !== '' ? [[credentialIdKey, [`JTI=${id}`]]] : [];
  for (const { key, expression } of extra) {
    const values = listResult(expression, `extra ${key}`, claims, run);
    if (values.length > 0) all.push([key, values]);
  }
  return Object.fromEntries(all);
}

function listResult(expression: AuthenticationExpression, subject: string, claims: Claims, run: Evaluation): string[] {
  const texts = textsOf(run.result(expression, { claims }));
  return texts ?? reject('mapping', `${subject} expression must return a string or a list of strings`);
}

function checkRules(rules: Mappings['claimRules'], bindings: Claims, run: Evaluation): void {
  for (const { expression, message } of rules) {
    if (run.result(expression, bindings) === true) continue;
    reject('rule', `validation expression '${expression.text}' failed${message === '' ? '' : `: ${message}`}`);
  }
}

const hasClaim = (claims: Claims, name: string): boolean => Object.hasOwn(claims, name);

/** Returns the text of a claim; an empty one for null, as in kube-apiserver. */
function textClaim(claims: Claims, name: string): string {
  const value = hasClaim(claims, name) ? (claims[name] ?? '') : reject('claims', `claim ${goQuote(name)} is missing`);
  return typeof value === 'string' ? value : reject('claims', `claim ${goQuote(name)} is not a string`);
}

/** Evaluates the expressions for one token within costMax. */
class Evaluation {
  private costLeft = costMax;

  result(expression: AuthenticationExpression, bindings: Claims) {
    const outcome = expression.evaluate(bindings, this.costLeft);
    this.costLeft = Math.max(0, this.costLeft - outcome.cost);
    if (outcome.isOk) return outcome.value;
    return reject('mapping', `expression '${expression.text}' resulted in an error`, outcome.error);
  }
}
