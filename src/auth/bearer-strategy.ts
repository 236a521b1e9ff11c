import passport from 'passport';
import { Strategy } from 'passport-http-bearer';
import { isAuthenticated, type Accepted, type Credentials } from './authenticator.js';

type Result = Accepted | 'rejected' | undefined;
type Verify = (token: string, credentials: Credentials) => Promise<Result>;

/**
 * Parses bearer tokens with passport, which costs more than the rest of authentication: called only for headers that
 * are not cached. Passport gets only the Authorization header, since it also accepts tokens in queries and forms, where
 * they would end up in logs.
 */
export class BearerStrategy {
  private readonly passport = new passport.Passport();

  constructor(verify: Verify) {
    this.passport.use(
      new Strategy(
        { passReqToCallback: true },
        (request: unknown, token: string, done: (error: unknown, user?: unknown) => void) => {
          const { credentials } = request as { credentials: Credentials };
          verify(token, credentials).then(
            (result) => done(null, isAuthenticated(result) ? result : false),
            (error: unknown) => done(error),
          );
        },
      ),
    );
  }

  authenticate(header: string, credentials: Credentials): Promise<Result> {
    return new Promise((resolve, reject) => {
      const handler = this.passport.authenticate(
        'bearer',
        { session: false },
        (error: unknown, result: Result | false) => {
          if (error) reject(error);
          else resolve(result || 'rejected');
        },
      ) as (request: unknown, response: unknown, next: (error?: unknown) => void) => void;
      handler({ headers: { authorization: header }, credentials }, {}, (error) => {
        if (error) reject(error);
        else resolve('rejected');
      });
    });
  }
}
