"""The whole flow with Authlib, as its documentation shows it."""
import os
from authlib.integrations.requests_client import OAuth2Session

base, client_id = os.environ["BASE"], os.environ["CLIENT_ID"]
session = OAuth2Session(
    client_id,
    scope=os.environ["SCOPE"],
    redirect_uri=os.environ["CALLBACK"],
    code_challenge_method="S256",
    token_endpoint=base + "/oauth2/token",
    token_endpoint_auth_method="none",
)
verifier = "v" * 64
url, _state = session.create_authorization_url(base + "/oauth2/authorize", code_verifier=verifier)
print(url, flush=True)
session.fetch_token(base + "/oauth2/token", authorization_response=input(), code_verifier=verifier)
print(session.get(base + "/customer-api/v1/contacts").status_code, flush=True)
session.refresh_token(base + "/oauth2/token")
print(session.get(base + "/customer-api/v1/contacts").status_code, session.token["scope"], flush=True)
