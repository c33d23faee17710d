import { describe, expect, it } from 'vitest';
import { QuotaError, QuotaExceeded } from './errors.js';

describe('QuotaExceeded', () => {
  it('has code, status and details, and only the kinds in its message', () => {
    const details = [{ kind: 'cores', requested: 40, used: 1, limit: 20 }];
    const error = new QuotaExceeded(details);
    expect(error).toBeInstanceOf(QuotaError);
    expect(error).toMatchObject({ code: 'QUOTA_EXCEEDED', status: 403, details, message: 'Quota exceeded for cores' });
    expect(new QuotaExceeded(details, 429).status).toBe(429);
  });
});
