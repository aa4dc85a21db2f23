/** What the names of drafts begin with in the session storage of a tab. */
export const draftPrefix = 'masthead.draft:'

/** Of everybody and every tenant in this tab. */
export const forgetDrafts = (): void => {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(draftPrefix)) sessionStorage.removeItem(key)
}
