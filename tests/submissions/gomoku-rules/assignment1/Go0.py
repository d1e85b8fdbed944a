from gtp_connection import GtpConnection

GtpConnection("Go0").serve()
