import description from '../package.json' with { type: 'json' }

/** The version of this release, as `masthead --version`, metrics and traces tell it. */
export const { version } = description
