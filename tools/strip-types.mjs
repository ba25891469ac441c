// jest transform: erases the types as Node itself does, so tests run the very code that Node runs.
import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';

export default {
  process(source) {
    return { code: stripTypeScriptTypes(source, { mode: 'strip' }) };
  },
  getCacheKey(source, path) {
    return createHash('sha256')
      .update(process.version)
      .update('\0')
      .update(path)
      .update('\0')
      .update(source)
      .digest('hex');
  },
};
